"""Recipe for Conan 2: conan create framework/packaging/conan

It packages the sources of the tree that it is part of. Libraries that ConanCenter lacks, or has with other targets than
mezzo's Find modules look for, come from the system: tests/install.sh quickstart installs those of Debian.
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

SOURCES = os.path.join("..", "..", "..")


class MezzoConan(ConanFile):
    name = "mezzo"
    version = "0.2.0"
    license = "Apache-2.0"
    description = "Keras-like framework to train neural networks on CPUs"
    topics = ("machine-learning", "neural-networks", "bfloat16")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": True, "fPIC": True}

    def validate(self):
        if self.settings.arch != "x86_64" or self.settings.os != "Linux":
            raise ConanInvalidConfiguration("mezzo runs on Linux on x86_64")
        if self.settings.compiler.get_safe("cppstd"):
            check_min_cppstd(self, 17)

    def export(self):
        header = load(self, os.path.join(self.recipe_folder, SOURCES, "framework/mezzo/core/version.hpp"))
        numbers = re.findall(r"#define MEZZO_VERSION_\w+ (\d+)", header)
        if ".".join(numbers) != self.version:
            raise ValueError(f"version.hpp has {'.'.join(numbers)}, this recipe {self.version}")

    def export_sources(self):
        top = os.path.join(self.recipe_folder, SOURCES)
        for pattern in ("CMakeLists.txt", "LICENSE", "framework/*", "models/*", "datasets/*"):
            copy(self, pattern, src=top, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def system_requirements(self):
        Apt(self).install(["libdnnl-dev", "libxsimd-dev", "libxtensor-dev", "libeigen3-dev", "libfmt-dev",
                           "nlohmann-json3-dev", "zlib1g-dev", "libutf8proc-dev", "libre2-dev"], check=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["MEZZO_BUILD_TUTORIALS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # Programs use the package files of mezzo's own installation.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "mezzo")]
