# SPDX-License-Identifier: Apache-2.0
"""A public class of the twin's packages names in its docstring the exceptions that its methods raise."""

from __future__ import annotations

import ast
import re

from documents import ROOT

FOLDERS = [ROOT / "twin" / "client" / "meridian_twin", ROOT / "twin" / "machine" / "meridian_machine"]
#: What no caller is to see.
INTERNAL = {"NotImplementedError", "AssertionError"}


def raised(node: ast.ClassDef) -> set[str]:
    """Names of the exceptions that a class makes and does not catch itself."""
    made = {
        it.exc.func.id
        for it in ast.walk(node)
        if isinstance(it, ast.Raise) and isinstance(it.exc, ast.Call) and isinstance(it.exc.func, ast.Name)
    }
    caught = {
        name.id
        for it in ast.walk(node)
        if isinstance(it, ast.ExceptHandler) and it.type and not any(isinstance(at, ast.Raise) for at in ast.walk(it))
        for name in ast.walk(it.type)
        if isinstance(name, ast.Name)
    }
    return made - caught - INTERNAL


def unnamed(text: str) -> list[str]:
    """Classes with the exceptions that their docstrings do not have behind "Raises"."""
    found = []
    for node in ast.parse(text).body:
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        _, _, said = (ast.get_docstring(node) or "").partition("Raises ")
        missing = sorted(name for name in raised(node) if not re.search(rf"\b{name}\b", said))
        found += [f"{node.name}: {', '.join(missing)}"] if missing else []
    return found


def test_a_class_names_what_it_raises() -> None:
    files = sorted(file for folder in FOLDERS for file in folder.glob("*.py"))
    assert len(files) > 15
    assert not [f"{file.name}: {fault}" for file in files for fault in unnamed(file.read_text())]


def test_a_class_that_names_no_error_is_found() -> None:
    silent = 'class A:\n    """Does something."""\n    def f(self):\n        raise AError("no")\n'
    assert unnamed(silent) == ["A: AError"]
    assert unnamed(silent.replace("something.", "something. Raises AError if it cannot.")) == []
    handled = (
        f"{silent}    def g(self):\n        try:\n            self.f()\n        except AError:\n            pass\n"
    )
    assert unnamed(handled) == []
