#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Sessions of nox. Each runs a section of `.ci/run`, which makes its own virtual environment."""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "none"


def run_sections(session: nox.Session, *sections: str, **variables: str) -> None:
    """Run sections of `.ci/run` with these environment variables."""
    session.run("bash", ".ci/run", *sections, env=variables)


@nox.session
@nox.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session, version: str) -> None:
    """Run the tests; arguments after ``--`` go to pytest."""
    options = " ".join(session.posargs)
    run_sections(session, "tests", PYTHON=f"python{version}", PYTEST_ADDOPTS=options)


@nox.session
def lint(session: nox.Session) -> None:
    """Run the linters, and check the conventions of the community."""
    run_sections(session, "lint", "conventions")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site, build/site/index.html."""
    run_sections(session, "site")


@nox.session(default=False)
def sanitizers(session: nox.Session) -> None:
    """Run the tests of the core under sanitizers."""
    run_sections(session, "sanitizers")


@nox.session(default=False)
def wheel(session: nox.Session) -> None:
    """Build the source distribution and a wheel, and test both."""
    run_sections(session, "wheel")


@nox.session(default=False)
@nox.parametrize("versions", ["lowest", "newest", "nightly"])
def dependencies(session: nox.Session, versions: str) -> None:
    """Run the tests with other versions of the dependencies."""
    run_sections(session, versions)


if __name__ == "__main__":
    nox.main()
