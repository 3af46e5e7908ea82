-- A message through L1 and L2 to N readers, by release and acquire: the machine's own steps.
-- The writer is `st.weak x; st.release.gpu f`, a reader `ld.acquire.gpu f; ld.weak x`.

const N: 1;

type
  reader: scalarset(N);
  value: 0..1;
  -- The line of x in a reader's L1: old, new or not there.
  line: enum { old, new, none };
  writing: enum { w_start, w_stored, w_draining, w_through, w_end };
  reading: enum { r_start, r_flag_queued, r_flag_back, r_acquired, r_invalidated,
                  r_data_queued, r_data_back, r_end };

var
  x: value;
  f: value;
  writer: writing;
  x_queued: boolean;
  f_queued: boolean;
  at: array [reader] of reading;
  a: array [reader] of value;
  b: array [reader] of value;
  l1: array [reader] of line;

startstate begin
  x := 0; f := 0;
  writer := w_start; x_queued := false; f_queued := false;
  for r: reader do
    at[r] := r_start; a[r] := 0; b[r] := 0; l1[r] := old;
  end;
end;

rule "store" writer = w_start ==> begin writer := w_stored; x_queued := true; end;
rule "membar" writer = w_stored ==> begin writer := w_draining; end;
rule "through" writer = w_draining & !x_queued ==> begin writer := w_through; end;
rule "flag" writer = w_through ==> begin writer := w_end; f_queued := true; end;
rule "perform x" x_queued ==> begin x := 1; x_queued := false; end;
rule "perform f" f_queued ==> begin f := 1; f_queued := false; end;

ruleset r: reader do
  rule "acquire" at[r] = r_start ==> begin at[r] := r_flag_queued; end;
  rule "perform acquire" at[r] = r_flag_queued ==> begin at[r] := r_flag_back; a[r] := f; end;
  rule "return acquire" at[r] = r_flag_back ==> begin at[r] := r_acquired; end;
  rule "invalidate" at[r] = r_acquired ==> begin at[r] := r_invalidated; l1[r] := none; end;
  rule "hit" at[r] = r_invalidated & l1[r] != none ==>
    begin at[r] := r_end; b[r] := l1[r] = new ? 1 : 0; end;
  rule "miss" at[r] = r_invalidated ==> begin at[r] := r_data_queued; l1[r] := none; end;
  rule "perform load" at[r] = r_data_queued ==> begin at[r] := r_data_back; b[r] := x; end;
  rule "return load" at[r] = r_data_back ==>
    begin at[r] := r_end; l1[r] := b[r] = 1 ? new : old; end;
end;

invariant "a message" forall r: reader do at[r] = r_end & a[r] = 1 -> b[r] = 1 end;
