-- A message through L1 and L2 to N readers, without order: the machine's own steps.
-- The writer is `st.relaxed.gpu x; st.relaxed.gpu f`, a reader `ld.relaxed.gpu f; ld.relaxed.gpu x`.

const N: 1;

type
  reader: scalarset(N);
  value: 0..1;
  stage: enum { waits, queued, back, done };

var
  x: value;
  f: value;
  store_x: stage;
  store_f: stage;
  load_f: array [reader] of stage;
  load_x: array [reader] of stage;
  a: array [reader] of value;
  b: array [reader] of value;

startstate begin
  x := 0; f := 0; store_x := waits; store_f := waits;
  for r: reader do
    load_f[r] := waits; load_x[r] := waits; a[r] := 0; b[r] := 0;
  end;
end;

rule "store" store_x = waits ==> begin store_x := queued; end;
rule "flag" store_x != waits & store_f = waits ==> begin store_f := queued; end;
rule "perform x" store_x = queued ==> begin x := 1; store_x := done; end;
rule "perform f" store_f = queued ==> begin f := 1; store_f := done; end;

ruleset r: reader do
  rule "load f" load_f[r] = waits ==> begin load_f[r] := queued; end;
  rule "load x" load_f[r] != waits & load_x[r] = waits ==> begin load_x[r] := queued; end;
  rule "perform load f" load_f[r] = queued ==> begin load_f[r] := back; a[r] := f; end;
  rule "perform load x" load_x[r] = queued ==> begin load_x[r] := back; b[r] := x; end;
  rule "return f" load_f[r] = back ==> begin load_f[r] := done; end;
  rule "return x" load_x[r] = back ==> begin load_x[r] := done; end;
end;
