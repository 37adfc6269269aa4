"""CuPy as far as gvoys uses it, on the CPU: arrays of NumPy, and CUDA C kernels compiled for the CPU.

`install()` makes gvoys use it beside numba's simulator, which runs the other kernels.
"""

import ctypes
import functools
import re
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import scipy.sparse as sp

_GUARD = 4096  # numbers behind the shared memory that a kernel was given
_RUN = """
{kept}
extern "C" int launch(int n_blocks, int n_groups, int n_warps, int n_floats, {parameters})
{{
    {keep}
    gridDim = {{n_blocks, n_groups}}, blockDim = {{32, n_warps}};
    body = [] {{ {call}; }};
    for (blockIdx.y = 0; blockIdx.y < n_groups; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < n_blocks; ++blockIdx.x) {{
            for (int j = 0; j < n_floats + {guard}; ++j) memory[j] = __int_as_float(0x7fbadbad);
            if (!run_block(32 * n_warps)) return 1;
            for (int j = 0; j < {guard}; ++j)
                if (__float_as_int(memory[n_floats + j]) != 0x7fbadbad) return 2;
        }}
    return 0;
}}
"""


class DeviceArray(np.ndarray):
    """An array that stands for one on the device; it does not mix with those of the host by accident."""

    def get(self, out=None):
        out = np.empty(self.shape, self.dtype) if out is None else out
        assert out.flags.c_contiguous
        out[...] = np.asarray(self)
        return out

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        given = options.pop("out", None)
        if given is not None:
            options["out"] = _plain(given)
        made = getattr(ufunc, method)(*_apart(inputs), **options)
        return given[0] if given is not None else _there(made)

    def __array_function__(self, function, types, args, options):
        given = _plain(args) if function is np.asarray else _apart(args)
        return _there(function(*given, **_apart(options)))


def _plain(given):
    if isinstance(given, (tuple, list)):
        return type(given)(map(_plain, given))
    return given.view(np.ndarray) if isinstance(given, DeviceArray) else given


def _apart(given):
    """The same, after a look whether arrays of the host are among them, as CuPy does."""
    every = given.values() if isinstance(given, dict) else given
    assert not any(type(each) is np.ndarray and each.ndim for each in every), "an array of the host"
    return {key: _plain(each) for key, each in given.items()} if isinstance(given, dict) else _plain(given)


def _there(made):
    return made.view(DeviceArray) if isinstance(made, np.ndarray) else made


class RawKernel:
    """A kernel compiled by the C++ compiler of this machine."""

    def __init__(self, source, name, options):
        shared = (resources.files("gvoys._compiled.cuda") / "lanes.cu").read_text()
        self._library = _library(source.replace(shared, ""), name, options)
        self.max_dynamic_shared_size_bytes = 0

    def __call__(self, grid, block, arguments, shared_mem=0):
        assert shared_mem <= self.max_dynamic_shared_size_bytes
        assert all(isinstance(each, (DeviceArray, np.generic)) for each in arguments), list(map(type, arguments))
        numbers = [ctypes.c_int(each) for each in (*grid, block[1], -(-shared_mem // 4))]
        status = self._library.launch(*numbers, *map(_as_c, arguments))
        assert status == 0, ("threads wait at different barriers", "more shared memory than was asked for")[status - 1]


@functools.cache
def _library(source, name, options):
    """The kernel with its threads as coroutines; its parameters are kept where all of them find them."""
    text = re.search(name + r"\((.*?)\)\n{", re.sub(r"//.*", "", source), re.DOTALL)[1]
    parameters = [part.replace("__restrict__", "").strip() for part in text.split(",")]
    names = [re.search(r"\w+$", part)[0] for part in parameters]
    run = _RUN.format(
        kept="".join(re.sub(r"(.*?)(\w+)$", r"static \1kept_\2;\n", part) for part in parameters),
        parameters=", ".join(parameters),
        keep=" ".join(f"kept_{each} = {each};" for each in names),
        call=f"{name}({', '.join(f'kept_{each}' for each in names)})",
        guard=_GUARD,
    )
    header = Path(__file__).with_name("emulator.hpp").read_text()
    with tempfile.TemporaryDirectory(prefix="gvoys-emulated-") as folder:
        Path(folder, "kernel.cpp").write_text(header + source + run)
        command = ["g++", "-std=c++17", "-O2", "-shared", "-fPIC", *options, "-o", "kernel.so", "kernel.cpp"]
        subprocess.run(command, cwd=folder, check=True)
        return ctypes.CDLL(str(Path(folder, "kernel.so")))


def _as_c(value):
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return {np.int32: ctypes.c_int, np.int64: ctypes.c_longlong, np.float32: ctypes.c_float}[type(value)](value)


def asarray(array, dtype=None):
    return np.array(array, dtype, copy=True, order="C").view(DeviceArray)


class _Stream:
    def __init__(self, non_blocking=False):
        pass

    def record(self):
        return self

    def wait_event(self, event):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def _syrk(trans, a, out=None, lower=False):
    assert trans == "N"
    assert lower
    out[...] = np.tril(a @ a.T)


def make_cupy():
    """The module."""
    device = SimpleNamespace(attributes={"MaxSharedMemoryPerBlockOptin": 227 * 1024})
    cuda = SimpleNamespace(
        Stream=_Stream,
        get_current_stream=_Stream,
        Device=lambda: device,
        runtime=SimpleNamespace(memGetInfo=lambda: (1 << 33, 1 << 33)),
    )
    module = ModuleType("cupy")
    for name in ("isfinite", "tril"):
        setattr(module, name, getattr(np, name))
    module.ascontiguousarray = lambda array: np.ascontiguousarray(array).view(DeviceArray)
    module.empty = lambda shape, kind=float: np.full(shape, np.nan, kind).view(DeviceArray)
    module.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: 0)
    module.asarray, module.RawKernel, module.cuda, module.ndarray = asarray, RawKernel, cuda, DeviceArray
    module.cublas = SimpleNamespace(syrk=_syrk)
    return module


def install():
    """Make gvoys find it."""
    from gvoys._compiled.cuda import device

    cupy = make_cupy()
    instead = {
        device.cupy_module: lambda: cupy,
        device.for_numba: lambda array: array.view(np.ndarray),
        device.empty_on_host: np.empty,
    }
    sys.modules["cupy"] = cupy
    for module in [each for name, each in sys.modules.items() if name.startswith("gvoys.")]:
        for name, value in list(vars(module).items()):
            if callable(value) and value in instead:
                setattr(module, name, instead[value])


def step_plainly():
    """Steps of recurrences by NumPy, as many as learners of nodes take."""
    from gvoys._compiled.cuda import recurrence_cuda as recurrence

    def step(matrix, terms, x, y, total):
        indptr, indices, weights, left, diagonal, _, options = (np.asarray(each) for each in matrix)
        weights = weights if "-DWEIGHTED=1" in options else np.ones(len(indices))
        A = sp.csr_array((weights, indices.astype(np.int32), indptr), shape=(len(x), len(x)))
        made = left[:, None] * (A @ np.asarray(x))
        if "-DSHIFTED=1" in options:
            made += diagonal[:, None] * np.asarray(x)
        np.asarray(y)[...] = terms.matrix * made + terms.itself * np.asarray(x) + terms.before * np.asarray(y)
        np.asarray(total)[...] += terms.kept * np.asarray(y)

    recurrence.step_eight = step


if __name__ == "__main__":
    import gvoys.gpu  # noqa: F401 (what uses CuPy must be imported before it is replaced)

    install()
    from studies.gpu_agreement import compare, compare_nodes

    failed = compare(small=True)
    step_plainly()
    sys.exit(bool(failed + compare_nodes(small=True)))
