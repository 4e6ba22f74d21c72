"""Interfaces that no wheel has, generated and compiled for the tests by rosidl's own generators.

A definition is text as in a ``.msg`` or ``.action`` file. From it come IDL, type hashes, C code
with its type supports for Fast DDS, and Python classes: what colcon does, without colcon and CMake.
Needs a C and a C++ compiler and the headers of Python and of the ROS packages (wheels bring them).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

SUPPORTS = ("rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c")
GENERATORS = {
    "rosidl_generator_c": "generate_c",
    "rosidl_typesupport_fastrtps_c": "generate_typesupport_fastrtps_c",
    "rosidl_typesupport_introspection_c": "generate_c",
    "rosidl_typesupport_c": "generate_c",
    "rosidl_generator_py": "generate_py",
}


def prefix_of(package: str) -> Path:
    """Where a ROS package is installed; for wheels that is the environment of Python."""
    places = [*os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep), sys.prefix]
    for place in filter(None, places):
        if Path(place, "share", package, "package.xml").is_file():
            return Path(place)
    raise FileNotFoundError(f"package '{package}' is in none of {places}")


def missing_tools() -> str:
    """What is missing to generate and compile; empty: nothing."""
    for tool in ("gcc", "g++"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    if not Path(sysconfig.get_paths()["include"], "Python.h").is_file():
        return "the headers of Python are not installed"
    for module in ("rosidl_adapter", "rosidl_generator_type_description", *GENERATORS):
        try:
            importlib.import_module(module)
        except ImportError as error:
            return f"no rosidl generators: {error}"
    return ""


class Package:
    """One package of interfaces, built into ``folder``.

    Attributes:
        python: put it on the Python path; nothing else is needed to use the interfaces.
    """

    def __init__(
        self, name: str, definitions: Mapping[str, str], needs: tuple[str, ...], folder: Path
    ) -> None:
        """Build.

        Args:
            definitions: texts by file name (``msg/JointTolerance.msg``).
            needs: packages whose interfaces these use, directly or not.
        """
        self.name = name
        self.python = folder / "python"
        self._folder = folder
        self._prefixes = {need: prefix_of(need) for need in needs}
        for path, text in definitions.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()):
            self._generate([Path(path) for path in definitions])
        self._compile()

    # -- generators -----------------------------------------------------------------------------

    def _generate(self, files: list[Path]) -> None:
        from rosidl_adapter import convert_to_idl
        from rosidl_generator_type_description import generate_type_hash

        folder = self._folder
        idl = []
        for file in files:
            convert_to_idl(folder, self.name, file, folder / "idl")
            idl.append(file.with_suffix(".idl").as_posix())
        paths = [f"{name}:{at / 'share' / name}" for name, at in self._prefixes.items()]
        described = folder / "described"
        with self._arguments("rosidl_generator_type_description", idl, described, paths) as file:
            generate_type_hash(file)
        hashes = [f"{path}:{(described / path).with_suffix('.json')}" for path in idl]
        for generator, function in GENERATORS.items():
            generate: Callable[..., Any] = getattr(importlib.import_module(generator), function)
            extra = {
                "rosidl_typesupport_c": [list(SUPPORTS)],
                "rosidl_generator_py": [["rosidl_typesupport_c"]],
            }.get(generator, [])
            out = self._output(generator)
            for kind in {path.split("/")[0] for path in idl}:
                (out / kind).mkdir(parents=True, exist_ok=True)
            with self._arguments(generator, idl, out, paths, hashes) as file:
                generate(file, *extra)
            self._write_visibility(generator, out)
        (self.python / self.name / "__init__.py").touch()

    def _output(self, generator: str) -> Path:
        root = self.python if generator == "rosidl_generator_py" else self._folder / generator
        return root / self.name

    @contextlib.contextmanager
    def _arguments(
        self, generator: str, idl: list[str], out: Path, paths: list[str], hashes: Any = ()
    ) -> Iterator[str]:
        arguments = {
            "package_name": self.name,
            "output_dir": str(out),
            "template_dir": str(self._resources(generator)),
            "idl_tuples": [f"{self._folder / 'idl'}:{path}" for path in idl],
            "include_paths": paths,
            "type_description_tuples": list(hashes),
            "ros_interface_dependencies": [],
            "target_dependencies": [],
        }
        file = self._folder / f"{generator}.json"
        file.write_text(json.dumps(arguments), encoding="utf-8")
        yield str(file)

    @staticmethod
    def _resources(generator: str) -> Path:
        return prefix_of(generator) / "share" / generator / "resource"

    def _write_visibility(self, generator: str, out: Path) -> None:
        for template in self._resources(generator).glob("*__visibility_control.h.in"):
            text = template.read_text(encoding="utf-8")
            text = text.replace("@PROJECT_NAME_UPPER@", self.name.upper())
            text = text.replace("@PROJECT_NAME@", self.name)
            (out / "msg").mkdir(parents=True, exist_ok=True)
            (out / "msg" / template.stem).write_text(text, encoding="utf-8")

    # -- compiler -------------------------------------------------------------------------------

    def _compile(self) -> None:
        own: list[str] = []
        for generator in list(GENERATORS)[:-1]:
            library = f"{self.name}__{generator}"
            target = self.python / f"lib{library}.so"
            self._link(target, self._output(generator), generator, own)
            own.append(library)
        package = self.python / self.name
        extension = package / f"{self.name}_s__rosidl_typesupport_c.so"
        self._link(extension, package, "rosidl_generator_py", own)

    def _link(self, target: Path, sources: Path, generator: str, own: list[str]) -> None:
        files = [str(f) for f in sorted(sources.rglob("*")) if f.suffix in (".c", ".cpp")]
        prefixes = sorted(set(self._prefixes.values()))
        includes = [self._folder / name for name in GENERATORS]
        for prefix in prefixes:
            includes += [prefix / "include", *sorted((prefix / "include").glob("*"))]
        if generator == "rosidl_generator_py":
            import numpy

            includes += [Path(sysconfig.get_paths()["include"]), Path(numpy.get_include())]
        libraries = [
            f"{need}__{kind}"
            for need in self._prefixes
            for kind in dict.fromkeys(("rosidl_generator_c", generator))
        ]
        libraries = [
            name
            for name in (*libraries, generator, "rosidl_runtime_c", "rosidl_typesupport_c", "rmw")
            if any((prefix / "lib" / f"lib{name}.so").is_file() for prefix in prefixes)
        ]
        cpp = any(file.endswith(".cpp") for file in files)
        if cpp:
            libraries += [
                n
                for n in ("fastcdr", "rosidl_typesupport_fastrtps_cpp", "rcutils", "rcpputils")
                if any((prefix / "lib" / f"lib{n}.so").is_file() for prefix in prefixes)
            ]
        run(
            "g++" if cpp else "gcc",
            *("-O0", "-fPIC", "-shared", "-w", "-Wl,--no-as-needed", f"-Wl,-soname,{target.name}"),
            *(f"-I{path}" for path in includes),
            *files,
            *(f"-L{path}" for path in (self.python, *(prefix / "lib" for prefix in prefixes))),
            *(f"-Wl,-rpath,{path}" for path in (self.python, *(p / "lib" for p in prefixes))),
            *(f"-l{name}" for name in (*own, *libraries)),
            *("-o", str(target)),
        )


def run(*command: str) -> None:
    """Run a compiler; fail with what it says."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{done.stderr[-5000:]}")


def with_package(environment: Mapping[str, str], package: Path) -> dict[str, str]:
    """An environment in which Python finds ``package``."""
    paths = [str(package), environment.get("PYTHONPATH", "")]
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def import_from(package: Path) -> None:
    """Let this process find ``package``, too."""
    if str(package) not in sys.path:
        sys.path.append(str(package))
