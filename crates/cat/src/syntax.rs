//! The syntax tree of cat: statements and expressions.

use text::report::ByteSpan;

/// Infix operators, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Infix {
    Or,
    Add,
    Seq,
    Minus,
    And,
    Cross,
}

impl Infix {
    pub(super) const ALL: [Infix; 6] =
        [Infix::Or, Infix::Add, Infix::Seq, Infix::Minus, Infix::And, Infix::Cross];

    pub(super) fn text(self) -> &'static str {
        match self {
            Infix::Or => "|",
            Infix::Add => "++",
            Infix::Seq => ";",
            Infix::Minus => "\\",
            Infix::And => "&",
            Infix::Cross => "*",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Postfix {
    Plus,
    Star,
    Opt,
    Inverse,
}

#[derive(Clone, Debug)]
pub(super) struct Expr<'t> {
    pub(super) at: ByteSpan,
    pub(super) kind: ExprKind<'t>,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind<'t> {
    Name(&'t str),
    /// `0`.
    NoPair,
    /// `{}`.
    NoEvent,
    /// Two operands or more, grouped to the left.
    Chain(Infix, Vec<Expr<'t>>),
    Postfix(Box<Expr<'t>>, Postfix),
    Not(Box<Expr<'t>>),
    /// `[S]`.
    ToId(Box<Expr<'t>>),
    Call(&'t str, Vec<Expr<'t>>),
    /// `let x = e and y = f in g`: the definitions do not see each other.
    Let(Vec<(&'t str, Expr<'t>)>, Box<Expr<'t>>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AxiomTest {
    Empty,
    Irreflexive,
    Acyclic,
}

#[derive(Clone, Debug)]
pub(super) enum Statement<'t> {
    Let {
        name: &'t str,
        at: ByteSpan,
        parameters: Option<Vec<&'t str>>,
        body: Expr<'t>,
    },
    Rec {
        name: &'t str,
        body: Expr<'t>,
    },
    Test {
        flag: bool,
        negated: bool,
        test: AxiomTest,
        at: ByteSpan,
        body: Expr<'t>,
        name: Option<&'t str>,
    },
    Include {
        file: &'t str,
        at: ByteSpan,
    },
    /// `with co from …`: the order is total on each location and contains this relation, if it is more than
    /// what is so of each order.
    With {
        base: Option<Expr<'t>>,
    },
    /// A name that something unsupported would define: it is not reported as unknown.
    Lost {
        name: &'t str,
    },
}

pub(super) struct CatFile<'t> {
    pub(super) title: Option<&'t str>,
    pub(super) statements: Vec<Statement<'t>>,
}
