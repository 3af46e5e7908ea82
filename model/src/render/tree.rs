//! Expressions with the parentheses that cat's precedences require, in lines of limited width.

/// An infix operator of cat, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Sign {
    Or,
    Seq,
    Minus,
    And,
    Cross,
}

impl Sign {
    fn text(self) -> &'static str {
        match self {
            Sign::Or => "|",
            Sign::Seq => ";",
            Sign::Minus => "\\",
            Sign::And => "&",
            Sign::Cross => "*",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Tree {
    Name(String),
    /// Grouped to the left.
    Chain(Sign, Vec<Tree>),
    Postfix(Box<Tree>, &'static str),
    /// `[S]`.
    Bracket(Box<Tree>),
}

/// Where an expression stands: what binds less tightly needs parentheses there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OperandPosition {
    Free,
    /// Left of this operator.
    Left(Sign),
    /// Right of it: a chain of the same operator would be grouped anew.
    Right(Sign),
    Postfix,
}

impl Tree {
    pub(crate) fn chain(sign: Sign, left: Tree, right: Tree) -> Tree {
        match left {
            Tree::Chain(same, mut parts) if same == sign => {
                parts.push(right);
                Tree::Chain(sign, parts)
            }
            Tree::Name(_) | Tree::Chain(..) | Tree::Postfix(..) | Tree::Bracket(_) => {
                Tree::Chain(sign, vec![left, right])
            }
        }
    }

    pub(crate) fn postfix(self, sign: &'static str) -> Tree {
        Tree::Postfix(Box::new(self), sign)
    }

    fn needs_parentheses(&self, place: OperandPosition) -> bool {
        match (self, place) {
            (Tree::Chain(own, _), OperandPosition::Left(outer)) => *own < outer,
            (Tree::Chain(own, _), OperandPosition::Right(outer)) => *own <= outer,
            (Tree::Chain(..), OperandPosition::Postfix) => true,
            (Tree::Chain(..), OperandPosition::Free)
            | (Tree::Name(_) | Tree::Postfix(..) | Tree::Bracket(_), _) => false,
        }
    }

    /// On one line.
    pub(crate) fn flat(&self, place: OperandPosition) -> String {
        let text = match self {
            Tree::Name(name) => name.clone(),
            Tree::Chain(sign, parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .enumerate()
                    .map(|(index, part)| part.flat(place_in(*sign, index)))
                    .collect();
                parts.join(&format!(" {} ", sign.text()))
            }
            Tree::Postfix(inner, sign) => format!("{}{sign}", inner.flat(OperandPosition::Postfix)),
            Tree::Bracket(inner) => format!("[{}]", inner.flat(OperandPosition::Free)),
        };
        if self.needs_parentheses(place) { format!("({text})") } else { text }
    }

    /// In lines that start after `lead`, which is the beginning of the first one, and leave room
    /// for `trail` after the last.
    fn lay(
        &self,
        place: OperandPosition,
        lead: &str,
        trail: &str,
        width: usize,
        lines: &mut Vec<String>,
    ) {
        let flat = self.flat(place);
        let Tree::Chain(sign, parts) = self else {
            return lines.push(format!("{lead}{flat}{trail}"));
        };
        if lead.chars().count() + flat.len() + trail.len() <= width {
            return lines.push(format!("{lead}{flat}{trail}"));
        }
        let (open, close) = if self.needs_parentheses(place) { ("(", ")") } else { ("", "") };
        let column = lead.chars().count() + open.len();
        let close = format!("{close}{trail}");
        for (index, part) in parts.iter().enumerate() {
            let lead = if index == 0 {
                format!("{lead}{open}")
            } else {
                format!("{:column$}{} ", "", sign.text())
            };
            let trail = if index + 1 == parts.len() { close.as_str() } else { "" };
            part.lay(place_in(*sign, index), &lead, trail, width, lines);
        }
    }

    /// `head tree tail` on one line, or broken before the loosest operators.
    pub(crate) fn statement(
        &self,
        place: OperandPosition,
        head: &str,
        tail: &str,
        width: usize,
    ) -> String {
        let line = format!("{head} {}{tail}", self.flat(place));
        if line.chars().count() <= width {
            return line;
        }
        let mut lines = vec![head.to_owned()];
        self.lay(place, "    ", tail, width, &mut lines);
        lines.join("\n")
    }
}

fn place_in(sign: Sign, index: usize) -> OperandPosition {
    // `S * T` is not a chain: sets have no product of three.
    if index == 0 { OperandPosition::Left(sign) } else { OperandPosition::Right(sign) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Tree {
        Tree::Name(text.to_owned())
    }

    #[test]
    fn parentheses_stand_where_the_grouping_needs_them() {
        let either = Tree::chain(Sign::Or, name("a"), name("b"));
        let both = Tree::chain(Sign::And, either.clone(), name("c"));
        assert_eq!(both.flat(OperandPosition::Free), "(a | b) & c");
        let again = Tree::chain(Sign::Or, name("c"), either.clone());
        assert_eq!(again.flat(OperandPosition::Free), "c | (a | b)");
        let left = Tree::chain(Sign::Or, either.clone(), name("c"));
        assert_eq!(left.flat(OperandPosition::Free), "a | b | c");
        assert_eq!(either.postfix("+").postfix("^-1").flat(OperandPosition::Free), "(a | b)+^-1");
    }

    #[test]
    fn long_expressions_break_before_the_loosest_operator() {
        let either = Tree::chain(Sign::Or, name("aaaa"), name("bbbb"));
        let both = Tree::chain(Sign::And, either, name("cccc"));
        let tree = Tree::chain(Sign::Seq, name("dddd"), both);
        assert_eq!(
            tree.statement(OperandPosition::Free, "let x =", "", 19),
            "let x =\n    dddd\n    ; (aaaa | bbbb)\n      & cccc"
        );
    }
}
