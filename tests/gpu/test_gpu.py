"""The GPU's kernels in numba's simulator, or emulated, against the CPU; and what is said where there is no GPU."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gvoys as gv
from gvoys.errors import UnsupportedError

BATCH = gv.datasets.molecules(5)


def test_every_option_agrees_in_the_simulator():
    script = Path(__file__).with_name("agreement.py")
    done = subprocess.run(
        [sys.executable, script, "--small"],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") > 30


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
def test_the_kernels_in_cuda_c_agree_when_emulated():
    script = Path(__file__).with_name("emulated.py")
    root = str(script.parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") > 50


@pytest.mark.parametrize(
    "estimator", [gv.RandomWalkFeatures, gv.RandomWalkKernel, gv.GraphVoyagers, gv.OneSidedVoyagers]
)
def test_without_a_gpu_one_sentence(estimator):
    if _has_gpu():
        pytest.skip("there is a GPU here")
    with pytest.raises(UnsupportedError, match="no CUDA device answers here"):
        estimator(device="cuda").fit(BATCH)
    with pytest.raises(UnsupportedError, match="must be 'cpu' or 'cuda'"):
        estimator(device="tpu").fit(BATCH)
    with pytest.raises(UnsupportedError, match="no CUDA device answers here"):
        gv.profiles(BATCH, gv.Walk(2), method="sketch", device="cuda")


def _has_gpu():
    from numba import cuda

    return cuda.is_available()


def test_importing_gvoys_imports_no_cuda():
    names = ("numba.cuda", "cupy", "gvoys.gpu", "gvoys._compiled.cuda")
    code = f"import gvoys, sys; print([m for m in sys.modules if m.startswith({names})])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
