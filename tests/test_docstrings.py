"""Public docstrings are numpydoc: its own validator reads them, so that the API pages show types as types."""

import ast
import contextlib
import functools
import importlib
import inspect
import re
from collections import defaultdict
from functools import cached_property
from pathlib import Path

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

import gvoys as gv

PAGE = Path(__file__).parents[1] / "docs" / "api.md"

# Not checked: GL01-GL03 and GL09 (quotes and blank lines: ruff formats them), SS02 and SS05 (a summary may begin with a
# formula, or with a verb in the third person), RT02 (a single result may have a name, as in scikit-learn), YD01 (an
# iterator may be described under Returns), ES01, SA01 and EX01 (one line is enough where the name says the rest), and
# SA02-SA04.
CHECKED = {
    "GL05",  # tabs
    "GL06",  # a section that numpydoc does not know and renders as text
    "GL07",  # sections in the wrong order
    "GL08",  # no docstring
    "GL10",  # a directive without its two colons
    *("SS01", "SS03", "SS04", "SS06"),  # the summary: one line that ends with a period
    *("PR01", "PR02", "PR03"),  # the parameters of the signature, all and in their order
    *("PR04", "PR05", "PR06", "PR10"),  # "name : type": there is a type, and it is not the description
    *("PR07", "PR08", "PR09"),  # the description: a sentence of its own
    *("RT01", "RT03", "RT04", "RT05"),  # the result, described likewise
}


class Docstring(Validator):
    """The validator, for classes whose docstring documents `__init__`, and for class methods."""

    def __init__(self, obj_name):
        super().__init__(get_doc_object(self._load_obj(obj_name), config={"show_class_members": False}))

    @property
    def is_function_or_method(self):
        return inspect.isfunction(self.obj) or inspect.ismethod(self.obj)

    @property
    def signature_parameters(self):
        # of errors and protocols the signature is Python's own
        is_error = inspect.isclass(self.obj) and (
            issubclass(self.obj, BaseException) or getattr(self.obj, "_is_protocol", False)
        )
        return () if is_error else super().signature_parameters

    @property
    def doc_all_parameters(self):
        """What users only read, such as a result, may document its fields as attributes."""
        if self.doc_parameters or not inspect.isclass(self.obj):
            return super().doc_all_parameters
        attributes = self._doc_parameters(["Attributes"])
        return {name: attributes[name] for name in self.signature_parameters if name in attributes}


def is_ours(obj):
    return not inspect.ismodule(obj) and (getattr(obj, "__module__", None) or "").split(".")[0] == "gvoys"


def method_names(cls):
    """Public methods and properties that gvoys defines, under the class that defines them.

    One without a docstring shows that of the base class that it overrides, which is checked there.
    """
    bases = [base for base in cls.__mro__ if is_ours(base)]
    for i, base in enumerate(bases):
        for name in vars(base):
            member = getattr(base, name)
            if name.startswith("_") or name.endswith("_request") or inspect.isclass(member):  # _request: scikit-learn's
                continue
            inherits = not member.__doc__ and any(getattr(vars(b).get(name), "__doc__", None) for b in bases[i + 1 :])
            if not inherits and (callable(member) or isinstance(member, property | cached_property)):
                yield f"{base.__module__}.{base.__qualname__}.{name}"


def public_names():
    """Full names of what docs/api.md lists, by the module that defines it."""
    found = defaultdict(set)
    for path in re.findall(r"^   ([\w.]+)$", PAGE.read_text(), re.M):
        if path.startswith("scale.cluster."):
            importlib.import_module("gvoys.apps.scale.cluster")
        obj = functools.reduce(getattr, path.split("."), gv)
        found[obj.__module__].add(f"{obj.__module__}.{obj.__qualname__}")
        for name in method_names(obj) if inspect.isclass(obj) else ():
            found[name.rsplit(".", 2)[0]].add(name)
    return {module: sorted(found[module]) for module in sorted(found)}


def faults(name):
    """Lines "name: code message" on one object."""
    return [f"{name}: {code} {message}" for code, message in validate(name, Docstring)["errors"] if code in CHECKED]


@pytest.mark.parametrize("names", [pytest.param(names, id=module) for module, names in public_names().items()])
def test_docstrings_are_numpydoc(names):
    found = [fault for name in names for fault in faults(name)]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def wrong_defaults(name):
    """Lines on parameters whose documented default is not the one of the signature."""
    docstring = Docstring(name)
    try:
        parameters = inspect.signature(docstring.obj).parameters
    except (TypeError, ValueError):  # a property
        return []
    found = []
    for parameter, (kind, _) in docstring.doc_all_parameters.items():
        said = re.search(r"default=(.+)$", kind)
        held = parameters[parameter].default if parameter in parameters else inspect.Parameter.empty
        if said is None or held is inspect.Parameter.empty:
            continue
        with contextlib.suppress(ValueError, SyntaxError):  # what is no literal, such as a series
            if ast.literal_eval(said.group(1)) != held:
                found.append(f"{name}: {parameter} has the default {held!r}, not {said.group(1)}")
    return found


@pytest.mark.parametrize("names", [pytest.param(names, id=module) for module, names in public_names().items()])
def test_documented_defaults_are_those_of_the_signature(names):
    assert [fault for name in names for fault in wrong_defaults(name)] == []
