"""``python -m convexcls``: the command line."""

from convexcls.cli import main

if __name__ == "__main__":
    main(prog_name="python -m convexcls")
