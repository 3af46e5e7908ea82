#!/usr/bin/env bash
# A message through L1 and L2 to n readers, in causeway, SPIN and Murphi (rumur): states and seconds.
#
#   benches/peers/run.sh [MOST_READERS [SECONDS]]
#
# Prints two tables in Markdown. First every step in every order, by all three: the states have to be
# as many, or the script says so and fails. Then each with what it leaves out by itself. One thread
# each, and seconds of the processor; rumur and gcc compile outside of the time. A run that takes longer
# than SECONDS, or more than 4 GiB, is a dash.
set -euo pipefail
cd "$(dirname "$0")/../.."
most=${1:-7}
patience=${2:-60}
causeway=$PWD/target/release/causeway
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$causeway" ] || { echo "first: cargo build --release" >&2; exit 2; }
for tool in spin rumur gcc; do
    command -v "$tool" > /dev/null || { echo "there is no $tool" >&2; exit 2; }
done

# Runs a command with the limits; its output goes to $work/log, its seconds to standard output.
seconds() {
    local TIMEFORMAT='%U %S'
    { time { (ulimit -v 4194304; ulimit -t "$patience"; exec "$@") > "$work/log" 2>&1; }; } \
        2> "$work/times" || { echo -; return; }
    awk '{ printf "%.2f", $1 + $2 }' "$work/times"
}

# The states that the log tells, and the seconds; of a run that gave up, dashes.
found() { # sed's way to the states, seconds
    local states
    states=$(sed -n "$1" "$work/log")
    if [ "$2" = - ] || [ -z "$states" ]; then echo "- -"; else echo "$states $2"; fi
}

litmus() { # shape, readers
    local places="P0@cta 0,gpu 0" first second condition="" n
    case $1 in
        acquire) first="st.weak.u32 [x], 1"; second="st.release.gpu.u32 [f], 1" ;;
        relaxed) first="st.relaxed.gpu.u32 [x], 1"; second="st.relaxed.gpu.u32 [f], 1" ;;
    esac
    for ((n = 1; n <= $2; n++)); do
        places+=" | P$n@cta $n,gpu 0"
        case $1 in
            acquire) first+=" | ld.acquire.gpu.u32 r0, [f]"; second+=" | ld.weak.u32 r1, [x]" ;;
            relaxed) first+=" | ld.relaxed.gpu.u32 r0, [f]"; second+=" | ld.relaxed.gpu.u32 r1, [x]" ;;
        esac
        condition+="${condition:+ /\\ }P$n:r0=1 /\\ P$n:r1=0"
    done
    printf 'PTX MP+%s+%s\n{ x=0; f=0; }\n %s ;\n %s ;\n %s ;\nexists (%s)\n' \
        "$1" "$2" "$places" "$first" "$second" "$condition" > "$work/mp.litmus"
}

ours() { # reduction
    local time
    time=$(seconds "$causeway" explore --stats --states 400000000 --reduce "$1" "$work/mp.litmus")
    grep -q "not everything" "$work/log" && time=-
    found 's/^ *\([0-9]*\) states.*/\1/p' "$time"
}

murphi() { # shape, readers, symmetry
    sed "s/^const N: 1;/const N: $2;/" "benches/peers/mp-$1.m" > "$work/mp.m"
    rumur --threads 1 --symmetry-reduction "$3" --deadlock-detection off --output "$work/mp.c" \
        "$work/mp.m"
    gcc -O3 -march=native -o "$work/mp" "$work/mp.c" -lpthread
    local time
    time=$(seconds "$work/mp")
    found 's/^\t\([0-9]*\) states, .* fired in.*/\1/p' "$time"
}

promela() { # shape, readers, options of spin, options of gcc
    # -o2: values that nobody reads again are the outcome.
    (cd "$work" && spin -o2 $3 -DN="$2" -a "$OLDPWD/benches/peers/mp-$1.pml" > /dev/null)
    (cd "$work" && gcc -O3 -march=native -DSAFETY -DNOFAIR $4 -o pan pan.c)
    local time
    time=$(cd "$work" && seconds ./pan -m10000 -w18)
    grep -q "errors: 0" "$work/log" || time=-
    found 's/^ *\([0-9]*\) states, stored.*/\1/p' "$time"
}

state() { # what two or three runs found: one number, if they agree
    local all
    all=$(printf '%s\n' "$@" | grep -E '^[0-9]+$' | sort -u)
    [ "$(wc -l <<< "$all")" -le 1 ] || { echo "the counts differ: $*" >&2; exit 1; }
    echo "${all:--}"
}

for shape in acquire relaxed; do
    echo "| $shape, readers | states | causeway | SPIN | rumur | | causeway, reduced | SPIN, partial order | rumur, symmetry |"
    echo "|---:|---:|---:|---:|---:|---|---:|---:|---:|"
    for ((n = 1; n <= most; n++)); do
        litmus $shape $n
        read -r a at <<< "$(ours none)"
        read -r b bt <<< "$(promela $shape $n -o3 -DNOREDUCE)"
        read -r c ct <<< "$(murphi $shape $n off)"
        all=$(state "$a" "$b" "$c")
        read -r d dt <<< "$(ours all)"
        read -r e et <<< "$(promela $shape $n "" "")"
        read -r f ft <<< "$(murphi $shape $n heuristic)"
        echo "| $n | $all | $at | $bt | $ct | | $d: $dt | $e: $et | $f: $ft |"
    done
    echo
done
