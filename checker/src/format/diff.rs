//! The difference of two texts, in the format of `diff -u`.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

/// The number of unchanged lines printed around a change.
const CONTEXT: usize = 3;

/// Sections with more lines than this are printed as one change: finding their common lines would take too
/// long.
const LARGEST: usize = 1 << 20;

/// A line, and the text that it belongs to.
#[derive(Clone, Copy)]
enum DiffLine<'a> {
    Both(&'a str),
    Before(&'a str),
    After(&'a str),
}

/// The changes from one text to another, which is called by this word, in the colours that `git diff` has; empty if they are equal.
pub(crate) fn unified(path: &str, word: &str, before: &str, after: &str) -> String {
    let coloured = |line: &str| {
        let style = match line.as_bytes() {
            [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => Style::new().bold(),
            [b'-', ..] => AnsiColor::Red.on_default(),
            [b'+', ..] => AnsiColor::Green.on_default(),
            [b'@', ..] => AnsiColor::Cyan.on_default(),
            _ => return line.to_owned(),
        };
        let content = line.trim_end_matches('\n');
        format!("{style}{content}{style:#}{}", &line[content.len()..])
    };
    plain(path, word, before, after).split_inclusive('\n').map(coloured).collect()
}

fn plain(path: &str, word: &str, before: &str, after: &str) -> String {
    let lines = lines(before, after);
    let changed: Vec<usize> =
        (0..lines.len()).filter(|&at| !matches!(lines[at], DiffLine::Both(_))).collect();
    let Some(&first) = changed.first() else { return String::new() };
    let mut hunks: Vec<(usize, usize)> = vec![(first, first)];
    for &at in &changed {
        let last = hunks.len() - 1;
        if at - hunks[last].1 <= 2 * CONTEXT {
            hunks[last].1 = at;
        } else {
            hunks.push((at, at));
        }
    }
    let mut out = format!("--- {path}\n+++ {path} ({word})\n");
    for (first, last) in hunks {
        let (first, end) = (first.saturating_sub(CONTEXT), (last + CONTEXT + 1).min(lines.len()));
        let count = |lines: &[DiffLine<'_>]| {
            let of_before = lines.iter().filter(|line| !matches!(line, DiffLine::After(_))).count();
            let of_after = lines.iter().filter(|line| !matches!(line, DiffLine::Before(_))).count();
            (of_before, of_after)
        };
        let (start, length) = (count(&lines[..first]), count(&lines[first..end]));
        // Lines count from 1. The position of an empty range is the line before it.
        let range = |start: usize, length: usize| {
            if length == 0 { format!("{start},0") } else { format!("{},{length}", start + 1) }
        };
        let (of_before, of_after) = (range(start.0, length.0), range(start.1, length.1));
        writeln!(out, "@@ -{of_before} +{of_after} @@").expect("writing to a string succeeds");
        for line in &lines[first..end] {
            let (sign, text) = match *line {
                DiffLine::Both(text) => (' ', text),
                DiffLine::Before(text) => ('-', text),
                DiffLine::After(text) => ('+', text),
            };
            out.push(sign);
            out.push_str(text);
            if !text.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// The lines of both texts, with the longest common subsequence shared.
fn lines<'a>(before: &'a str, after: &'a str) -> Vec<DiffLine<'a>> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let common = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let (head, before) = before.split_at(common);
    let after = &after[common..];
    let ends = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let (before, tail) = before.split_at(before.len() - ends);
    let after = &after[..after.len() - ends];
    let mut lines: Vec<DiffLine<'a>> = head.iter().map(|line| DiffLine::Both(line)).collect();
    middle(before, after, &mut lines);
    lines.extend(tail.iter().map(|line| DiffLine::Both(line)));
    lines
}

fn middle<'a>(before: &[&'a str], after: &[&'a str], lines: &mut Vec<DiffLine<'a>>) {
    let (rows, columns) = (before.len(), after.len());
    if rows.saturating_mul(columns) > LARGEST {
        lines.extend(before.iter().map(|line| DiffLine::Before(line)));
        lines.extend(after.iter().map(|line| DiffLine::After(line)));
        return;
    }
    // For each pair of lines, the number of common lines in the rest of both texts.
    let width = columns + 1;
    let mut most = vec![0_u32; (rows + 1) * width];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            most[row * width + column] = if before[row] == after[column] {
                most[(row + 1) * width + column + 1] + 1
            } else {
                most[(row + 1) * width + column].max(most[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    while row < rows || column < columns {
        if row < rows && column < columns && before[row] == after[column] {
            lines.push(DiffLine::Both(before[row]));
            (row, column) = (row + 1, column + 1);
        } else if column == columns
            || row < rows && most[(row + 1) * width + column] >= most[row * width + column + 1]
        {
            lines.push(DiffLine::Before(before[row]));
            row += 1;
        } else {
            lines.push(DiffLine::After(after[column]));
            column += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_far_apart_are_two_pieces() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
        let after = "A\nb\nc\nd\ne\nf\ng\nh\ni\nJ\nk\n";
        assert_eq!(
            plain("x", "formatted", before, after),
            "--- x\n+++ x (formatted)\n@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n d\n\
             @@ -7,4 +7,5 @@\n g\n h\n i\n-j\n+J\n+k\n"
        );
    }

    #[test]
    fn lines_in_common_stay_and_an_end_without_a_line_end_shows() {
        assert_eq!(
            plain("x", "formatted", "a\nb\nc", "b\nc\n"),
            "--- x\n+++ x (formatted)\n@@ -1,3 +1,2 @@\n-a\n b\n-c\n\\ No newline at end of file\n+c\n"
        );
        assert_eq!(plain("x", "formatted", "a\n", "a\n"), "");
        assert_eq!(
            plain("x", "formatted", "", "a\n"),
            "--- x\n+++ x (formatted)\n@@ -0,0 +1,1 @@\n+a\n"
        );
    }
}
