"""What commands write: an output that exists needs --overwrite, an input is never written, a failure leaves nothing."""

import errno
import os
import re
import threading
from pathlib import Path

import pytest
from commands import done, run, sentence
from typer.main import get_command

pytest.importorskip("rdkit")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")
pytest.importorskip("plotly")

import gvoys as gv
from gvoys.apps.cli import app
from gvoys.apps.cli.messages import in_one_sentence
from gvoys.apps.scale import embed_file, predict_file, write_gram
from gvoys.apps.scale.job import Parameters
from gvoys.errors import DatasetError, ParameterError
from gvoys.io import files

SMILES = [f"{'C' * (1 + k % 7)}{'O' * (k % 3)}{'N' * (k % 2)}" for k in range(24)]
QUICK = ("--target", "y", "--folds", 2, "--seed", 0)
SMALL = ("--components", 8, "--max-length", 1)

# the words of a command, in which names of inputs are files of `kit`; the option of the output, and its name
COMMANDS = {
    "evaluate": (("evaluate", "t.csv", *QUICK, "--no-baselines"), "-o", "results"),
    "train": (("train", "t.csv", "--target", "y", "--no-cv"), "-o", "new.gvoys"),
    "train two": (("train", "t.csv", "--target", "y", "--target", "z", "--no-cv"), "-o", "new"),
    "learn": (("learn", "t.csv", *QUICK, "--max-length", 1), "-o", "learned"),
    "predict": (("predict", "m", "t.csv", "--index", "ix"), "-o", "p.csv"),
    "explain": (("explain", "m", "t.csv", "--graphs", 3), "-o", "why.html"),
    "explore": (("explore", "t.csv", "--model", "m", "--index", "ix"), "-o", "page.html"),
    "search": (("search", "store", "tu", "--like", "plain"), "-o", "hits.csv"),
    "search kept": (("search", "t.csv", "q.smi", "-o", "h.csv"), "--index", "new"),
    "embed": (("embed", "t.csv", *SMALL, "--like", "first"), "-o", "features"),
    "kernel": (("kernel", "t.csv", *SMALL), "-o", "K.npy"),
    "demo": (("demo",), "-o", "demo.html"),
}
INPUTS = ("t.csv", "q.smi", "m", "ix", "store", "tu", "plain", "first")
each_command = pytest.mark.parametrize(("words", "option", "name"), COMMANDS.values(), ids=COMMANDS)


def content(folder):
    """Bytes of all files below a folder."""
    return {path: path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """One input of every kind."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "t.csv").write_text("smiles,y,z\n" + "".join(f"{s},{k % 7}.5,{k}.5\n" for k, s in enumerate(SMILES)))
    (folder / "q.smi").write_text("CCO\nCCN\n")
    batch, plain = gv.from_smiles(SMILES), gv.datasets.erdos_renyi(24, 6, 0.4)
    for name, graphs in (("m", batch), ("plain", plain)):
        gv.RandomWalkRegressor(gv.Walk(2), max_iterations=2).fit(graphs, graphs.graph_sizes + 0.5).save(folder / name)
    gv.Index().add(batch).save(folder / "ix")
    gv.write_store(plain, folder / "store")
    (folder / "tu").mkdir()
    (folder / "tu" / "tu_A.txt").write_text("1, 2\n2, 1\n3, 4\n4, 3\n")
    (folder / "tu" / "tu_graph_indicator.txt").write_text("1\n1\n2\n2\n")
    embed_file(folder / "t.csv", folder / "first", Parameters(walk=gv.Walk(1), n_components=8))
    return folder


@pytest.fixture
def kit(inputs, tmp_path, monkeypatch):
    """The working folder of a command: inputs by their names, to be changed at will."""
    import shutil

    shutil.copytree(inputs, tmp_path / "kit")
    monkeypatch.chdir(tmp_path / "kit")
    return tmp_path / "kit"


@pytest.fixture
def no_work(monkeypatch):
    """Whoever opens graphs or a model has begun to work."""
    for name in ("gvoys.io.open._open", "gvoys.io.container.zipfile.ZipFile", "gvoys.apps.cli.demo_command._learn"):
        monkeypatch.setattr(name, lambda *_, **__: pytest.fail("the work began"))


def test_every_command_that_writes_is_here():
    options = {name: {each.name for each in command.params} for name, command in get_command(app).commands.items()}
    writing = {name for name, names in options.items() if "out" in names}
    assert writing == {words[0] for words, *_ in COMMANDS.values()} | {"classify"}
    assert {name for name, names in options.items() if "overwrite" in names} == writing


# -- what is there stays, unless --overwrite is given
@each_command
@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_an_output_that_exists_stays(kit, no_work, words, option, name, kind):
    if kind == "folder":
        Path(name).mkdir()
    there = Path(name, "mine.txt") if kind == "folder" else Path("mine.txt" if kind == "link" else name)
    there.write_text("mine")
    if kind == "link":
        Path(name).symlink_to("mine.txt")
    before = content(kit)
    assert re.search("exists already.* --overwrite$|is a (file|folder)|lies? in|holds", sentence(*words, option, name))
    assert content(kit) == before


@each_command
def test_overwrite(kit, words, option, name, monkeypatch):
    """Run, run again, and overwrite."""
    if name == "demo.html":
        monkeypatch.setattr("gvoys.apps.cli.demo_command._learn", lambda *_: (None, None, None))
        monkeypatch.setattr("gvoys.apps.cli.demo_command._show", lambda *_: None)
        monkeypatch.setattr("gvoys.apps.cli.demo_command._write", lambda *words: words[-1].write_text("page"))
    done(*words, option, name)
    for file in (old := content(name) or {Path(name): b""}):
        os.utime(file, (0, 0))
    if name == "features":  # the same command goes on with its run, which has nothing left to do
        done(*words, option, name)
    else:
        assert "exists already" in sentence(*words, option, name)
    assert {file.stat().st_mtime for file in old if file.suffix == ".parquet" or name != "features"} == {0}
    done(*words, option, name, "--overwrite")
    assert all(file.stat().st_mtime for file in old)
    assert not [path for path in kit.rglob("*") if path.suffix in (".partial", ".work")]


# -- an input is never written
@each_command
@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)], ids=["", "overwrite"])
def test_an_input_is_never_written(kit, no_work, words, option, name, overwrite):
    before, ending = content(kit), Path(name).suffix
    for given in [word for word in words if word in INPUTS]:
        (kit / f"soft{ending}").symlink_to(given)
        targets = [f"soft{ending}"]
        if Path(given).is_file():
            os.link(given, f"hard{ending}")
            targets.append(f"hard{ending}")
        else:
            targets += [f"{given}/{name}", f"soft{ending}/{name}"]
        for out in targets:
            assert re.search("the input|name (a folder|the file)", sentence(*words, option, out, *overwrite)), out
        for link in targets[:2]:
            Path(link).unlink(missing_ok=True)
    assert content(kit) == before


@pytest.mark.parametrize(
    ("words", "clash"),
    [
        (("predict", "m", "p.skipped.csv", "--smiles", "text", "-o", "p.csv"), "p.skipped.csv"),
        (("embed", "f.skipped.csv", "--smiles", "text", "-o", "f"), "f.skipped.csv"),
        (("kernel", "K.skipped.csv", "--smiles", "text", "-o", "K.npy"), "K.skipped.csv"),
        (("evaluate", "t.csv", *QUICK, "-o", "."), "."),
        (("embed", "t.csv", "-o", "."), "."),
        (("train", "tu", "--root", ".", "-o", "tu/tu_A.txt"), "tu/tu_A.txt"),
        (("train", "TU", "--root", "up", "-o", "up/tu/tu_node_labels.txt"), "up/tu/tu_node_labels.txt"),
    ],
    ids=lambda words: " ".join(map(str, words)) if isinstance(words, tuple) else "",
)
def test_nor_what_lies_beside_an_output_or_in_an_input(kit, no_work, words, clash):
    for name in ("p", "f", "K"):
        Path(f"{name}.skipped.csv").write_text("row,text,reason\n1,CCO,old\n")
    Path("up").symlink_to(".")
    before = content(kit)
    said = sentence(*words, "--overwrite")
    assert f"the output {clash} " in said
    assert "the input" in said
    assert content(kit) == before


def test_python_does_not_write_an_input_either(kit):
    for name in ("p", "f"):
        Path(f"{name}.skipped.csv").write_text("row,text,reason\n1,CCO,old\n")
    before = content(kit)
    with pytest.raises(ParameterError, match=r"the output p.skipped.csv is the input"):
        predict_file("m", "p.skipped.csv", Path("p.csv"), smiles="text")
    with pytest.raises(ParameterError, match=r"the output .*f.skipped.csv is the input"):
        embed_file("f.skipped.csv", Path("f"), smiles="text")
    with pytest.raises(ParameterError, match=r"the output store/K.npy lies in the input"):
        write_gram("store", Path("store/K.npy"), overwrite=True)
    assert content(kit) == before


# -- a place that cannot be written is found before the work
@each_command
@pytest.mark.parametrize("folder", ["/proc/1", "none/below", "file"])
def test_a_place_that_cannot_be_written(kit, no_work, words, option, name, folder):
    if folder == "none/below" and ("." not in name or name == "K.npy"):
        return  # a folder is made with those above it
    Path("file").touch()
    before = content(kit)
    assert re.search(
        "cannot be written|there is no folder|is a file", sentence(*words, option, f"{folder}/{name}", "--overwrite")
    )
    assert content(kit) == before


# -- runs that go on
@pytest.mark.parametrize("name", ["predict", "embed", "kernel", "search kept"])
def test_a_stopped_run_goes_on_and_overwrite_starts_anew(kit, name, monkeypatch):
    words, option, out = COMMANDS[name]
    more = () if name == "search kept" else ("--rows-per-part", 8)
    stop = {"search kept": "gvoys.search.build_index._Builder.assemble", "embed": "gvoys.apps.scale.run._sum_up"}
    stop |= {"predict": "gvoys.apps.scale.predict._write_table", "kernel": "gvoys.apps.scale.gram._write_ids"}

    def stopped(*last):
        with monkeypatch.context() as patch:
            patch.setattr(stop[name], lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            assert run(*words, *more, option, out, *last).exit_code == 130

    def made():
        return {file.stat().st_ino for file in kit.rglob("part-*") if file.parent.name != "first"}

    stopped()
    first = made()
    assert first
    stopped()
    assert made() == first
    kept = [os.open(file, os.O_RDONLY) for file in kit.rglob("part-*")]  # so that no inode is given again
    stopped("--overwrite")
    assert made()
    assert not made() & first
    Path("h.csv").unlink(missing_ok=True)
    done(*words, *more, option, out)
    if name != "embed":
        assert "exists already" in sentence(*words, *more, option, out)
    before = content(out) or Path(out).read_bytes()
    stopped("--overwrite")  # and goes on without: what is there was to be replaced
    Path("h.csv").unlink(missing_ok=True)
    done(*words, *more, option, out)
    assert (content(out) or Path(out).read_bytes()) == before
    for descriptor in kept:
        os.close(descriptor)


@pytest.mark.parametrize("name", ["embed", "search kept"])
def test_what_gvoys_has_not_made_is_never_removed(kit, name):
    words, option, out = COMMANDS[name]
    done(*words, option, out)
    Path("h.csv").unlink(missing_ok=True)
    Path(out, "notes.txt").write_text("mine")
    before = content(out)
    assert f"{out} holds notes.txt, which gvoys has not made" in sentence(*words, option, out, "--overwrite")
    assert content(out) == before


# -- failures leave nothing in the way, and say why
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("search", "demo")])
@pytest.mark.parametrize("row", ["", "C1CC,1,1"])
def test_nothing_is_left_of_an_input_without_graphs(kit, name, row):
    words, option, out = COMMANDS[name]
    Path("bad.csv").write_text(f"smiles,y,z\n{row}\n")
    before = content(kit)
    said = sentence(*["bad.csv" if word == "t.csv" else word for word in words], option, out)
    assert said.startswith("bad.csv holds no graph")
    assert not row or "row 2: " in said or name == "search kept"
    assert content(kit) == before
    assert not Path(out).exists()


@pytest.mark.parametrize("name", ["predict", "embed", "kernel", "search kept"])
def test_nothing_is_left_of_a_run_that_cannot_be_made(kit, name, monkeypatch):
    def fail(*_, **__):
        raise DatasetError("these graphs cannot be used")

    words, option, out = COMMANDS[name]
    monkeypatch.setattr(
        f"gvoys.apps.scale.{'predict._Prediction' if name == 'predict' else 'embed._Embedding'}.compute", fail
    )
    monkeypatch.setattr("gvoys.search.build_index.encode_graphs", fail)
    before = set(kit.iterdir())
    for more in ((), ("--overwrite",)):
        assert "these graphs cannot be used" in sentence(*words, option, out, *more)
        assert {path for path in kit.iterdir() if not (path.is_dir() and not any(path.iterdir()))} == before


def test_failures_keep_what_was_there(kit):
    Path("p.csv").write_text("old")
    Path("bad.csv").write_text("smiles\nC1CC\n")
    assert "no graph that can be read; row 2" in sentence("predict", "m", "bad.csv", "-o", "p.csv", "--overwrite")
    assert Path("p.csv").read_text() == "old"
    assert "/dev/null is no regular file" in sentence("train", "t.csv", "-o", "/dev/null", "--overwrite")


def test_a_folder_of_models_appears_at_once(kit, monkeypatch):
    saved = []

    def save(self, path):
        if saved:
            raise KeyboardInterrupt
        saved.append(Path(path).write_text("model"))

    monkeypatch.setattr(gv.RandomWalkRegressor, "save", save)
    words, option, out = COMMANDS["train two"]
    assert run(*words, option, out).exit_code == 130
    assert saved
    assert not Path(out).exists()


def test_no_output_takes_the_place_of_another(kit):
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "t.csv").write_text(Path("t.csv").read_text().replace("smiles,y,z", "smiles,y 1,y_1"))
    done("train", "a/t.csv", "--target", "y 1", "--target", "y_1", "--no-cv", "-o", "new")
    models = {name: gv.load_model(f"new/{name}.gvoys").training_["target"] for name in ("y_1", "y_1-2")}
    assert models == {"y_1": "y 1", "y_1-2": "y_1"}
    quick = ("--folds", 2, "--seed", 0, "--no-baselines", "-o", "results")
    done("evaluate", "a/t.csv", "b/t.csv", "--target", "y_1", *quick)
    assert sorted(path.name for path in Path("results").iterdir()) == ["t", "t-2"]


# -- errors of the system
@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "cannot write hits.csv: the disk is full; make room"),
        (errno.EDQUOT, "cannot write hits.csv: the disk quota is used up; make room"),
        (errno.EFBIG, "cannot write hits.csv: it is larger than files may be here"),
        (errno.EACCES, "cannot open hits.csv: permission denied"),
        (errno.EEXIST, "hits.csv exists already"),
        (errno.EROFS, "cannot write hits.csv: the file system is read-only"),
        (errno.ENAMETOOLONG, "cannot open hits.csv: file name too long"),
        (errno.EIO, "cannot open hits.csv: input/output error"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_errors_of_the_system_are_sentences(kit, number, words, named, monkeypatch, capsys):
    appearing = files.appearing

    def fail(path):
        if path.name != "hits.csv":
            return appearing(path)
        raise OSError(number, os.strerror(number), *([".hits.csv.a1b2.partial"] if named else []))

    monkeypatch.setattr(files, "appearing", fail)
    result = run("search", "store", "tu", "-o", "hits.csv")
    with pytest.raises(SystemExit) as ended, in_one_sentence():
        raise result.exception
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"gvoys: {words}")
    assert "Errno" not in said
    assert len(said.splitlines()) == 1


# -- pipes
def test_pipes(kit, monkeypatch):
    os.mkfifo("t.fifo.csv")
    os.mkfifo("any")
    for pipe in ("t.fifo.csv", "any"):
        for words in (
            ("predict", "m", pipe, "-o", f"{pipe}.p.csv"),
            ("search", "t.csv", pipe, "-o", f"{pipe}.hits.csv"),
        ):
            writer = threading.Thread(target=Path(pipe).write_bytes, args=(Path("t.csv").read_bytes(),))
            writer.start()
            done(*words)
            writer.join()
            assert len(Path(words[-1]).read_text().splitlines()) > 24
    monkeypatch.setattr("gvoys.io.copies._WRITER_SECONDS", 0.2)
    assert "nobody writes to t.fifo.csv" in sentence("predict", "m", "t.fifo.csv", "-o", "p.csv")
    assert not Path("p.csv").exists()
