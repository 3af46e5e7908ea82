/* A message through L1 and L2 to N readers, by release and acquire: the machine's own steps.
   The writer is `st.weak x; st.release.gpu f`, a reader `ld.acquire.gpu f; ld.weak x`. */

#define NONE 2

bit x, f, x_queued, f_queued;

active proctype l2() {
end:
    do
    :: d_step { x_queued -> x = 1; x_queued = 0 }
    :: d_step { f_queued -> f = 1; f_queued = 0 }
    od
}

active proctype writer() {
    x_queued = 1;
    true;                       /* MEMBAR begins */
    !x_queued;                  /* and is through */
    f_queued = 1;
end:
    false                       /* it stays: a process that ends is one more state */
}

active [N] proctype reader() {
    bit a = 0, b = 0;
    byte l1 = 0;                /* the line of x is there, and old */
    true;                       /* the acquire is issued, */
    a = f;                      /* performs */
    true;                       /* and returns */
    l1 = NONE;                  /* CCTL.IVALL */
    if
    :: d_step { l1 != NONE -> b = l1 }
    :: d_step { true -> l1 = NONE };
        b = x;
        d_step { l1 = b; assert(!(a == 1 && b == 0)) }
    fi;
end:
    false
}
