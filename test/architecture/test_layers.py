"""Who may import whom, and that nobody reaches into another object's privates.

The order is that of docs/architecture.md. Imports count wherever they stand: at the top of a file,
inside a function, or under ``TYPE_CHECKING``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "closed_loop_dynamics"
#: From the bottom to the top; a module belongs to the longest name that it starts with. What stands
#: in one line may import each other.
LAYERS = (
    ("errors", "arrays"),
    ("engine",),
    ("spatial", "se3", "fingerprint"),
    ("model",),
    ("closure",),
    ("mechanism",),
    ("dynamics",),
    ("programs",),
    ("quantities", "actuation", "simulation", "task_space", "inspection"),
    ("c_export", "writers"),
    ("shipped",),
    ("robot",),
    ("motion", "identification", "simulation.drives", "simulation.plant"),
    ("ros",),
    ("cli",),
    ("viewer",),
    ("cli.commands", "cli.command_line", "__main__"),
)
#: What only the upper layers may bring in.
ROS = re.compile(r"rclpy|launch|ament_index_python|rcl_interfaces|\w+_(msgs|srvs)")
#: Public in spite of the underscore: of named tuples, and the exit without clean-up.
PUBLIC = {"_replace", "_asdict", "_fields", "_make", "_exit"}

FILES = sorted((ROOT / PACKAGE).rglob("*.py"))


def module_of(path: Path) -> str:
    """Dotted name below the package; empty for the package itself."""
    parts = path.relative_to(ROOT / PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path) for path in FILES}


def layer_of(module: str) -> int:
    """Place in :data:`LAYERS`."""
    places = {name: k for k, names in enumerate(LAYERS) for name in names}
    words = module.split(".")
    for length in range(len(words), 0, -1):
        if ".".join(words[:length]) in places:
            return places[".".join(words[:length])]
    raise AssertionError(f"'{module}' is in no layer: name it in LAYERS, docs/architecture.md")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that a file imports, ours below the package."""
    package = [PACKAGE, *path.relative_to(ROOT / PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{origin}.{alias.name}"
                is_module = full.removeprefix(f"{PACKAGE}.") in MODULES
                yield node.lineno, full if is_module else origin


def below(layer: str) -> list[Path]:
    """Files of the layers below ``layer``; the package's own file hands out what others have."""
    return [f for f in FILES if module_of(f) and layer_of(module_of(f)) < layer_of(layer)]


def test_every_module_is_in_a_layer_and_every_layer_has_modules() -> None:
    used = {layer_of(module) for module in MODULES if module}
    assert used == set(range(len(LAYERS)))


def test_modules_import_only_from_their_own_layer_and_those_below() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in FILES
        if module_of(path)
        for line, name in imports(path)
        if name.startswith(f"{PACKAGE}.")
        and layer_of(name.removeprefix(f"{PACKAGE}.")) > layer_of(module_of(path))
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_upper_layers_know_ros() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in below("ros")
        for line, name in imports(path)
        if ROS.fullmatch(name.split(".")[0])
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_upper_layers_print() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in below("ros")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "sys.stdout.write")
    ]
    assert not wrong, "\n".join(wrong)


def outsiders(path: Path) -> Iterator[str]:
    """Underscore names of other objects and modules that a file uses."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and _private(node.attr):
            owner = node.value
            mine = isinstance(owner, ast.Name) and owner.id in ("self", "cls")
            inherited = isinstance(owner, ast.Call) and ast.unparse(owner.func) == "super"
            if not (mine or inherited):
                yield f"line {node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.ImportFrom):
            yield from (
                f"line {node.lineno}: import {alias.name}"
                for alias in node.names
                if _private(alias.name)
            )


def _private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC


def test_nobody_uses_underscore_names_of_others() -> None:
    files = [*FILES, *sorted((ROOT / "tools").rglob("*.py"))]
    wrong = [f"{path.relative_to(ROOT)} {place}" for path in files for place in outsiders(path)]
    assert not wrong, "\n".join(wrong)


def test_the_library_does_not_know_the_workshop() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in FILES
        for _, name in imports(path)
        if name.split(".")[0] in ("tools", "test", "support")
    ]
    assert not found


def test_the_page_draws_the_layers_in_this_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = re.findall(r"^ │ ([\w. ]+?) +│", page, re.MULTILINE)
    assert [tuple(row.split()) for row in reversed(drawn)] == list(LAYERS)


def test_places_that_the_page_names_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = (ROOT, ROOT / PACKAGE)
    for place, name in re.findall(r"`([\w/]+\.(?:py|md|yaml|xml|rst))(?:: ([\w.]+))?`", page):
        path = next((f / place for f in folders if (f / place).is_file()), None)
        assert path is not None, place
        words = path.read_text(encoding="utf-8")
        for word in name.split("."):
            assert re.search(rf"\b(class|def) {word}\b", words) if word else True, (place, name)


def test_robot_has_no_base_class() -> None:
    from closed_loop_dynamics import Robot

    assert Robot.__mro__ == (Robot, object)
