"""The GPU's kernels in numba's simulator, or emulated, against the CPU; and what is said where there is no GPU."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import cuda

import gvoys as gv
from gvoys.errors import UnsupportedError

BATCH = gv.datasets.molecules(5)


@pytest.mark.parametrize(("script", "least"), [("agreement.py", 30), ("emulated.py", 50)])
def test_every_option_agrees_in_the_simulator(script, least):
    """And kernels in CUDA C, when emulated."""
    if script == "emulated.py" and shutil.which("g++") is None:
        pytest.skip("needs a C++ compiler")
    folder = Path(__file__).parent
    path = os.pathsep.join(filter(None, [str(folder.parents[1]), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": path}
    command = [sys.executable, folder / script, "--small"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") > least


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU here")
@pytest.mark.parametrize(
    "estimator", [gv.RandomWalkFeatures, gv.RandomWalkKernel, gv.GraphVoyagers, gv.OneSidedVoyagers]
)
def test_without_a_gpu_one_sentence(estimator):
    with pytest.raises(UnsupportedError, match="no CUDA device answers here"):
        estimator().set_params(device="cuda").fit(BATCH)
    with pytest.raises(UnsupportedError, match="must be 'cpu' or 'cuda'"):
        estimator().set_params(device="tpu").fit(BATCH)
    with pytest.raises(UnsupportedError, match="no CUDA device answers here"):
        gv.profiles(BATCH, gv.Walk(2), method="sketch", device="cuda")
