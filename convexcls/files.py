"""Files: an input that cannot hang, an output that is there as a whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

#: How long a named pipe may be without anybody who writes to it, in seconds.
MAX_WAIT_SECONDS = 10.0


def open_input(path: Path) -> BinaryIO:
    """A file to read. To open a named pipe waits for a writer, for ever if need be: here ``MAX_WAIT_SECONDS``, then it
    is a ``TimeoutError``. Where somebody holds the other end, as of a shell's pipe, reading waits as usual."""
    if not path.is_fifo():
        return path.open("rb")
    import select

    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        if not waiting.poll(1000 * MAX_WAIT_SECONDS) and not _has_writer(descriptor):
            raise TimeoutError(
                errno.ETIMEDOUT, f"a pipe that nobody writes to, for {MAX_WAIT_SECONDS:g} seconds", str(path)
            )
        os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _has_writer(descriptor: int) -> bool:
    """Whether an empty pipe has one: else its end is read at once."""
    try:
        return bool(os.read(descriptor, 1))
    except BlockingIOError:
        return True


def same_file(path: Path, others: Iterable[Path]) -> Path | None:
    """The first of the others that is the same file, through links of either kind too."""
    return next((other for other in others if path.exists() and other.exists() and path.samefile(other)), None)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8. It is written beside the target under another name and then takes its place, with
    its permissions: a full disk or a crash leaves what was there. A symbolic link goes on pointing where it did;
    devices, pipes and our own output are written to as they are."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        elif path.exists() and os.path.samestat(path.stat(), os.fstat(1)):
            sys.stdout.flush()
            with os.fdopen(1, "wb", closefd=False) as stream:
                stream.write(data)
        else:
            _replace(Path(os.path.realpath(path)), data)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None


def _replace(target: Path, data: bytes) -> None:
    with new_file(target) as file:
        file.write(data)


@contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of the target when all is written, and is gone where that fails."""
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
