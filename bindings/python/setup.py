"""The wheel holds a library for one system and any Python: py3-none-PLATFORM."""

import os
import pathlib
import subprocess
import sys
import sysconfig

SYSTEMS = {"darwin": "macosx", "windows": "win"}  # Go's names, and Python's
PROCESSORS = {"amd64": ("x86_64", "amd64"), "arm64": ("arm64", "aarch64"), "386": ("i686", "win32"), "arm": ("armv7l",)}
CROSS = os.environ.get("WHEEL_PLATFORM")  # of a library that the script cross has built for another system


def platform():
    """The library's platform as Python names it. A Python for both processors of Apple has a library for one of them."""
    if CROSS:
        return CROSS
    system, processor = subprocess.run(["go", "env", "GOOS", "GOARCH"], capture_output=True, text=True, check=True).stdout.split()
    names = PROCESSORS.get(processor, (processor,))
    own = sysconfig.get_platform()
    found = own.replace("universal2", names[0])
    if not found.startswith(SYSTEMS.get(system, system)) or found.split("-")[-1] not in names:
        sys.exit(f"the library is for {system}/{processor}, and this Python makes wheels for {own}: set $PYTHON to a Python of that system, or GOOS and GOARCH to those of this one")
    return found


# Both are looked at before setuptools is needed.
if not any(path.suffix in (".so", ".dylib", ".dll") for path in pathlib.Path(__file__).resolve().parent.glob("src/parallelcl/*")):
    sys.exit("src/parallelcl has no library, which pip does not build: run bash bindings/python/build DIR, and install the wheel that it makes")
os.environ["_PYTHON_HOST_PLATFORM"] = platform()

from setuptools import Distribution, setup  # noqa: E402
from setuptools.command.bdist_wheel import bdist_wheel  # noqa: E402


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", CROSS or super().get_tag()[2]


# Setuptools would build in the folder build, which is a script here.
setup(distclass=WithLibrary, cmdclass={"bdist_wheel": AnyPython}, options={"build": {"build_base": "built"}})
