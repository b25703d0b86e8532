#!/bin/sh
# Write deploy/requirements.lock anew from pyproject.toml: exact versions, nothing else.
#
# Run it with Python 3.11, the oldest supported version, after changing a dependency. The lock
# names no package registry: whoever installs decides where packages come from.
set -eu
cd "$(dirname "$0")/.."
.venv/bin/python -m pip install --quiet pip-tools
{
    echo "# Exact versions of everything that is installed; made by deploy/make-lock.sh."
    .venv/bin/python -m piptools compile --quiet --extra dev --strip-extras --allow-unsafe \
        --no-annotate --no-header --no-emit-options --no-emit-index-url \
        --no-emit-trusted-host --no-emit-find-links --output-file - "$@" pyproject.toml |
        grep -v '^#' | grep -v '^$'
} >deploy/requirements.lock.new
mv deploy/requirements.lock.new deploy/requirements.lock
