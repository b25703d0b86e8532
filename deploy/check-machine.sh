#!/bin/sh
# Look whether this machine can build Folkmoot, and print the Python to build it with.
#
#   check-machine.sh             prints the interpreter; or says what is missing, and exits 1
#   check-machine.sh --packages  prints the missing Debian packages, one a line, and exits 0
#   PYTHON=/path/to/python check-machine.sh   looks at this interpreter only
#
# Most dependencies come as wheels. One of libp2p's, fastecdsa, is always compiled: that is why
# a C compiler, the headers of Python and those of GMP are needed.
set -u

mode=${1:-}
packages=
reasons=

lacks() { # lacks "what is missing" package...
    reasons="$reasons
  - $1"
    shift
    packages="$packages $*"
}

is_supported() { # Python 3.11, 3.12 and 3.13: libp2p's dependencies have no wheels for others.
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
}

find_python() {
    for candidate in ${PYTHON:-python3.11 python3.12 python3.13 python3}; do
        if command -v "$candidate" >/dev/null 2>&1 && is_supported "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
}

compiles() { # compiles "source line" flags...: try it, leave nothing behind
    printf '%s\nint main(void) { return 0; }\n' "$1" >"$trial/trial.c"
    shift
    "$compiler" "$trial/trial.c" -o "$trial/trial" "$@" >/dev/null 2>&1
}

trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT

python=$(find_python)
if [ -n "$python" ]; then
    # The header packages of Debian and Ubuntu carry the interpreter's version in their name.
    name=python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        lacks "the venv module of $python" "$name-venv"
else
    name=python3
    lacks "Python 3.11, 3.12 or 3.13 (found: $(python3 --version 2>/dev/null || echo none))" \
        python3 python3-venv
fi

compiler=
for candidate in ${CC:-cc gcc clang}; do
    if command -v "$candidate" >/dev/null 2>&1; then
        compiler=$candidate
        break
    fi
done
if [ -z "$compiler" ]; then
    lacks "a C compiler" gcc libc6-dev
elif ! compiles '#include <stdio.h>'; then
    lacks "the headers of the C library (or $compiler does not work)" libc6-dev
fi

include=
[ -n "$python" ] && include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -n "$include" ] && [ -f "$include/Python.h" ] ||
    lacks "the headers of Python (Python.h)" "$name-dev"

if [ -n "$compiler" ]; then
    compiles '#include <gmp.h>' -lgmp || lacks "the headers of GMP (gmp.h)" libgmp-dev
else
    # Without a compiler only the usual places can be looked at.
    ls /usr/include/gmp.h /usr/include/*/gmp.h >/dev/null 2>&1 ||
        lacks "the headers of GMP (gmp.h)" libgmp-dev
fi

if [ "$mode" = --packages ]; then
    for package in $packages; do
        echo "$package"
    done
    exit 0
fi
if [ -n "$reasons" ]; then
    {
        echo "This machine lacks what Folkmoot is built with:$reasons"
        echo "On Debian or Ubuntu this installs it:"
        echo "  apt-get update && apt-get install --yes --no-install-recommends$packages"
        echo "(put sudo in front of both commands if you are not root)"
    } >&2
    exit 1
fi
echo "$python"
