"""The sections of the report, one a file. Each is a function of a solution (or of what it speaks of) to HTML, and empty
where it has nothing to say; notebooks show the same sections."""
