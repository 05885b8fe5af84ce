"""One family of exceptions; every message says what is wrong, where, and how to mend it.

The command line prints the message and exits with code 2, or 1 where frames failed or are missing; Python
users catch `EcorcheError` or one of its children. No other exception should reach a user because of bad
input.
"""

from __future__ import annotations


class EcorcheError(Exception):
    """Bad input or an impossible request, told in one readable message.

    Args:
        what: What is wrong, as a sentence without its full stop.
        where: The file and element concerned, such as ``man.glb, mesh 'Body'``.
        remedy: How to mend it, as an imperative sentence without its full stop.

    Attributes:
        exit_code: What the command line ends with.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: object = None, remedy: str | None = None) -> None:
        self.what = what
        self.where = None if where is None else str(where)
        self.remedy = remedy
        message = what if self.where is None else f"{self.where}: {what}"
        if remedy is not None:
            message = f"{message}. {remedy}"
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.remedy))


def _rebuild(kind: type[EcorcheError], what: str, where: str | None, remedy: str | None) -> EcorcheError:
    """Unpickle an error: keyword-only arguments need a function of their own."""
    return kind(what, where=where, remedy=remedy)


class ReadError(EcorcheError):
    """A file cannot be read: missing, truncated, of another format, or holding bad values."""


class WriteError(EcorcheError):
    """A file cannot be written: folder missing, read-only or full, or a format that cannot hold it."""


class DocumentError(EcorcheError):
    """A rig file does not follow its format."""


class MeshError(EcorcheError):
    """A mesh or its weights cannot be used as they are."""


class SkeletonError(EcorcheError):
    """A joint tree, joint model or joint naming cannot be used as it is."""


class MotionError(EcorcheError):
    """A motion cannot be used, or does not fit the skeleton it is given to."""


class MissingPackageError(EcorcheError):
    """An optional package or program is needed and not installed."""
