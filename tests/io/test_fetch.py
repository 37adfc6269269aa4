"""Finding and downloading datasets; the site is played by a server on this machine."""

import http.server
import threading
import warnings
import zipfile

import pytest
from raising import raises
from test_tu import TINY, write_folder, write_zip

import gvoys as gv
from gvoys.errors import DatasetError, InputWarning
from gvoys.io import fetch


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("GVOYS_DATA", str(folder))
    return folder / "tu"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder served over HTTP on the loopback interface in place of the collection's site."""
    folder = tmp_path / "site"
    folder.mkdir()
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=folder)

        def log_message(self, *args):
            asked.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(fetch, "SITE", f"http://127.0.0.1:{server.server_port}")
    folder_and_asked = folder, asked
    yield folder_and_asked
    server.shutdown()
    server.server_close()


def test_downloads_once_then_reads_the_cache(cache, site, capsys):
    folder, asked = site
    write_zip(folder, TINY)
    assert len(gv.datasets.load_tu("TINY")[0]) == 2
    assert "downloading TINY.zip" in capsys.readouterr().out
    assert len(gv.datasets.load_tu("TINY")[0]) == 2
    assert asked == ["/TINY.zip"]
    assert sorted(path.name for path in cache.iterdir()) == ["TINY.zip", "TINY.zip.sha256"]
    write_zip(site[0], TINY)
    gv.datasets.load_tu("TINY")

    zipfile.ZipFile(cache / "TINY.zip").extractall(cache)
    (cache / "TINY.zip").unlink()
    assert len(gv.datasets.load_tu("TINY")[0]) == 2


def test_a_changed_cache_is_noticed(cache, site):
    write_zip(site[0], TINY)
    gv.datasets.load_tu("TINY")
    write_zip(cache, TINY | {"graph_labels": "1\n1\n"})
    with pytest.raises(DatasetError, match="has changed since it was downloaded; delete it and load the dataset again"):
        gv.datasets.load_tu("TINY")


@pytest.mark.parametrize("content", ["page", "half", "stream"])
def test_a_bad_download_is_not_kept(cache, site, content):
    folder, _ = site
    write_zip(folder, TINY | {"A": TINY["A"] * 500, "edge_labels": TINY["edge_labels"] * 500})
    whole = (folder / "TINY.zip").read_bytes()
    bad = {"page": b"<html>sorry</html>", "half": whole[: len(whole) // 2]}
    (folder / "TINY.zip").write_bytes(bad.get(content, whole[:60] + b"\xff" * 10 + whole[70:]))
    said = "the download of TINY is damaged or is not a dataset, and was not kept; try again"
    raises(DatasetError, said, gv.datasets.load_tu, "TINY")
    assert list(cache.iterdir()) == []


def test_a_dataset_that_the_site_does_not_have(cache, site, monkeypatch):
    absent = r"TINY is not in .* \(the site answers with status 404\); put TINY.zip into a folder and"
    raises(DatasetError, absent, gv.datasets.load_tu, "TINY")
    monkeypatch.setattr(fetch, "SITE", "http://127.0.0.1:9")
    raises(DatasetError, r"could not be downloaded \(ConnectionError from http", gv.datasets.load_tu, "TINY")


def test_folders_of_your_own(tmp_path, monkeypatch):
    write_zip(tmp_path, TINY)
    with pytest.raises(DatasetError, match=r"there is neither OTHER.zip nor OTHER/ in .*; it holds TINY"):
        gv.datasets.load_tu("OTHER", tmp_path)
    raises(DatasetError, "that folder does not exist", gv.datasets.load_tu, "OTHER", tmp_path / "nowhere")
    write_zip(tmp_path, TINY, "NCI1", "NCI1/")
    assert len(gv.datasets.load_tu("NCI1", tmp_path)[0]) == 2
    monkeypatch.setenv("GVOYS_DATA", str(tmp_path))
    assert len(gv.datasets.load_tu("NCI1")[0]) == 2


@pytest.mark.parametrize("name", ["../MUTAG", "", "a/b", "MUTAG\n", ".hidden", 5, None])
def test_names_that_are_not_names(name, tmp_path):
    said = "is not the name of a dataset" + ("; names look like 'MUTAG' or 'PTC_MR'" if isinstance(name, str) else "")
    raises(DatasetError, said, gv.datasets.load_tu, name, tmp_path)
    raises(DatasetError, "root must be the path of a folder", gv.datasets.load_tu, "MUTAG", 5)


# -- what downloads must be
def test_a_download_that_is_another_dataset_is_not_kept(cache, site):
    write_zip(site[0], TINY, "NCI1", "NCI1/")
    known = (
        "the download of NCI1 is not the dataset that gvoys knows: its SHA-256 differs, and it was not kept; to use "
    )
    remedy = "a copy that you trust, put NCI1.zip into a folder and pass it as root$"
    raises(DatasetError, f"^{known}{remedy}", gv.datasets.load_tu, "NCI1")
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("known", ["zip", "content"])
def test_a_download_that_is_known(cache, site, monkeypatch, known):
    write_zip(site[0], TINY)
    zip_, content = fetch.digest(site[0] / "TINY.zip"), fetch.content_digest(site[0] / "TINY.zip", "TINY")
    monkeypatch.setitem(fetch.ZIPS, "TINY", zip_ if known == "zip" else "packed otherwise")
    if known == "content":
        monkeypatch.setitem(fetch.CONTENTS, "TINY", content)
    assert len(gv.datasets.load_tu("TINY")[0]) == 2


def test_a_download_that_nobody_knows_says_so_once(cache, site, monkeypatch):
    write_zip(site[0], TINY)
    with pytest.warns(InputWarning, match=r"no known SHA-256 of TINY, so that .* was taken unchecked from http"):
        gv.datasets.load_tu("TINY")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gv.datasets.load_tu("TINY")
        (cache / "TINY.zip").unlink()
        monkeypatch.setitem(fetch.ZIPS, "TINY", fetch.digest(site[0] / "TINY.zip"))
        gv.datasets.load_tu("TINY")


def test_digests_of_files(tmp_path):
    first = write_zip(tmp_path, TINY) / "TINY.zip"
    (tmp_path / "other").mkdir()
    spaced = {part: text.replace(", ", ",").replace("\n", "\r\n") for part, text in reversed(TINY.items())}
    second = write_zip(tmp_path / "other", spaced | {"label_readme": "notes"}, prefix="") / "TINY.zip"
    assert fetch.digest(first) != fetch.digest(second)
    assert fetch.content_digest(first, "TINY") == fetch.content_digest(second, "TINY")
    for part, old, new in (("A", "1, 2", "1, 4"), ("graph_labels", "-1", "1"), ("node_labels", "6\n7", "67")):
        write_zip(tmp_path / "other", TINY | {part: TINY[part].replace(old, new, 1)})
        assert fetch.content_digest(first, "TINY") != fetch.content_digest(second, "TINY")
    pytest.importorskip("grakel")
    import shutil

    folder = fetch._in_packages("MUTAG")
    shutil.make_archive(str(tmp_path / "MUTAG"), "zip", folder)
    assert fetch.is_known(tmp_path / "MUTAG.zip", "MUTAG")


@pytest.mark.parametrize("name", sorted(fetch.CONTENTS))
def test_the_datasets_beside_the_checkout_are_known(name):
    path = fetch.data_folder("tu") / f"{name}.zip"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    assert fetch.is_known(path, name)


@pytest.mark.parametrize("target", ["http://127.0.0.1:9/TINY.zip", "/moved/TINY.zip"])
def test_redirects_lead_to_https_only(cache, site, monkeypatch, target):
    """The site of these tests has no TLS itself, so that a redirect to one of its own pages is one to plain http."""
    moved = site[0] / "moved"
    moved.mkdir()
    write_zip(moved, TINY)
    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "do_GET", redirecting(target))
    said = r"could not be downloaded \(the site redirects to http://127.0.0.1:.*, not https"
    raises(DatasetError, said, gv.datasets.load_tu, "TINY")
    assert not list(cache.glob("*.zip"))


def redirecting(target):
    whole = http.server.SimpleHTTPRequestHandler.do_GET

    def do_GET(self):
        if self.path != "/TINY.zip":
            return whole(self)
        self.send_response(302)
        self.send_header("Location", target)
        self.end_headers()

    return do_GET


# -- where data is
def test_each_kind_of_data_has_its_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GVOYS_DATA", str(tmp_path))
    for kind in ("tu", "molecules", "brec"):
        assert fetch.data_folder(kind) == tmp_path / kind
    (tmp_path / "tu").mkdir()
    write_zip(tmp_path / "tu", TINY)
    assert len(gv.datasets.load_tu("TINY")[0]) == 2


@pytest.mark.parametrize("write", [write_zip, write_folder])
def test_a_folder_of_datasets_itself_is_still_taken(tmp_path, monkeypatch, write):
    """What GVOYS_DATA meant in 0.1."""
    monkeypatch.setenv("GVOYS_DATA", str(write(tmp_path, TINY)))
    assert fetch.data_folder("tu") == tmp_path
    assert fetch.data_folder("molecules") == tmp_path / "molecules"
    assert len(gv.datasets.load_tu("TINY")[0]) == 2
