"""A lock on an open file, which ends with the process that holds it, however that ends."""

import contextlib
import errno
import os
import weakref

try:
    import fcntl
except ImportError:  # not POSIX
    fcntl = None  # type: ignore[assignment]

_FAR_OFF = 2**30
"""Where Windows locks a byte: what it locks nobody else can read, so it is none that is there."""

_TAKEN = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)


class LockedFile:
    """A file opened for reading and appending, made if it is not there, that nobody else has open as such.

    Raises:
        BlockingIOError: somebody has.
        OSError: it cannot be opened.
    """

    descriptor = -1

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        while True:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            self.descriptor = os.open(self._path, flags, 0o666)
            try:
                _lock(self.descriptor)
                if self._is_still_there():
                    break
            except BaseException:
                self.close()
                raise
            self.close()  # its holder removed it after we opened it, and let go: there may be a new one
        _held.add(self)

    def _is_still_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self.descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False

    def remove(self) -> None:
        """Remove the file, then let go of it: who waits for the lock must not get a file that is about to go."""
        if os.name == "nt":  # where an open file cannot be removed
            self.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether it is held."""
        return self.descriptor >= 0

    def close(self) -> None:
        """Let go of the file."""
        if self.is_open:
            descriptor, self.descriptor = self.descriptor, -1
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()


_held: "weakref.WeakSet[LockedFile]" = weakref.WeakSet()


def _lock(descriptor: int) -> None:
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            os.lseek(descriptor, _FAR_OFF, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in _TAKEN:
            raise BlockingIOError(error.errno, "is locked") from None
        # A file system that knows no locks: better without one than not at all.


def _let_go_in_child() -> None:
    """A forked process shares the locks; it would hold them after its parent's death."""
    for one in list(_held):
        one.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)
