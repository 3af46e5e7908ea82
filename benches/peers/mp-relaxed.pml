/* A message through L1 and L2 to N readers, without order: the machine's own steps.
   The writer is `st.relaxed.gpu x; st.relaxed.gpu f`, a reader `ld.relaxed.gpu f; ld.relaxed.gpu x`.
   The loads of a reader are processes: they are under way at once. */

bit x, f, x_queued, f_queued;
bit issued[N];

active [N] proctype load_f() {
    bit a = 0;
    issued[_pid] = 1;
    a = f;                      /* performs */
    true;                       /* and returns */
end:
    false                       /* it stays: a process that ends is one more state */
}

active [N] proctype load_x() {
    bit b = 0;
    issued[_pid - N];           /* a thread issues in order */
    b = x;
    true;
end:
    false
}

active proctype l2() {
end:
    do
    :: d_step { x_queued -> x = 1; x_queued = 0 }
    :: d_step { f_queued -> f = 1; f_queued = 0 }
    od
}

active proctype writer() {
    x_queued = 1;
    f_queued = 1;
end:
    false
}
