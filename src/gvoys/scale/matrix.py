"""Square matrices on disk, mapped into memory, whose space is reserved before the first number is written."""

from __future__ import annotations

import errno
import io
import os
import shutil
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.walks.products import summed_gram

_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_RESERVING = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)
_FEW_COLUMNS = 1 << 24  # above which arrays of one number for each would be large
_BLOCK = 1 << 24  # bytes


def create_matrix(path: Path, n: int) -> NDArray[np.float64]:
    """Make a .npy file of zeros; a disk that is too small is found here, and not by a signal in mid-run.

    On file systems that copy on write, such as Btrfs, the space of a file is not its own: there a disk that others
    fill during the run can still end the process.
    """
    with path.open("wb") as file:
        file.write(_header(n))
    try:
        return _mapped(path, n)
    except BaseException:
        path.unlink()
        raise


def open_matrix(path: Path, n: int) -> NDArray[np.float64] | None:
    """Open a file that `create_matrix` made."""
    header = _header(n)
    if not path.is_file() or path.stat().st_size != len(header) + 8 * n * n:
        return None
    with path.open("rb") as file:
        if file.read(len(header)) != header:
            return None
    return _mapped(path, n)


def products(left: Any, right: Any) -> NDArray[np.float64]:
    """Return the dot products of features, dense or sparse, in double precision."""
    if not sp.issparse(left):
        return np.asarray(left @ right.T)
    if left.shape[1] > _FEW_COLUMNS:
        columns = np.unique(np.concatenate([left.indices, right.indices]))
        same, left = right is left, _with_columns(left, columns)
        right = left if same else _with_columns(right, columns)
    return summed_gram([left], None if right is left else [right])


def _with_columns(features: Any, columns: NDArray[Any]) -> Any:
    """Return sparse features in these columns alone, which hold all that they have."""
    indices = np.searchsorted(columns, features.indices).astype(np.int32)
    return sp.csr_array((features.data, indices, features.indptr), shape=(features.shape[0], len(columns)))


def _header(n: int) -> bytes:
    buffer = io.BytesIO()
    kind = {"descr": np.dtype(np.float64).str, "fortran_order": False, "shape": (n, n)}
    np.lib.format.write_array_header_1_0(buffer, kind)
    return buffer.getvalue()


def _mapped(path: Path, n: int) -> NDArray[np.float64]:
    needed = len(_header(n)) + 8 * n * n
    with path.open("r+b") as file:
        before = os.fstat(file.fileno()).st_size
        try:
            _reserve(file, before, needed)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            file.truncate(before)  # what was reserved of it counts as free
            raise _no_space(path.parent, needed - before) from None
    return np.lib.format.open_memmap(path, "r+")


def _reserve(file: IO[bytes], before: int, needed: int) -> None:
    """Have the file system set blocks aside; where it cannot, write zeros."""
    if hasattr(os, "posix_fallocate"):
        try:
            return os.posix_fallocate(file.fileno(), 0, needed)
        except OSError as error:
            if error.errno not in _NO_RESERVING:
                raise
    file.seek(before)
    for begin in range(before, needed, _BLOCK):
        file.write(bytes(min(_BLOCK, needed - begin)))
    file.flush()


def _no_space(folder: Path, needed: int) -> OSError:
    free = shutil.disk_usage(folder).free
    error = OSError(
        f"the matrix needs {_amount(needed)} and {_amount(free)} are free in {folder}; "
        "make room there and give the same command again"
    )
    error.errno = errno.ENOSPC
    return error


def _amount(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            break
        size, unit = size / 1000, "TB"
    return f"{size:.3g} {unit}"
