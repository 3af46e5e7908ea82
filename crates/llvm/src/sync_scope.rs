//! Synchronization scopes, as `syncscope` names them.

use model::scope::Scope;
use text::cursor::short;

/// What the name of a scope says.
pub struct SyncScope {
    /// `None` for the scope of the thread alone.
    pub scope: Option<Scope>,
    /// What the user should know of it.
    pub note: Option<String>,
}

/// The scope with this name (reading R44); the empty name is the system scope.
pub fn sync_scope(name: &str) -> SyncScope {
    if name.is_empty() {
        return SyncScope { scope: Some(Scope::Sys), note: None };
    }
    if name == "singlethread" {
        let note = "`singlethread` synchronizes with no other thread".to_owned();
        return SyncScope { scope: None, note: Some(note) };
    }
    // LLVM has no word for the system scope.
    let known = Scope::of_cxx(name).filter(|scope| *scope != Scope::Sys);
    let unknown = format!("unknown scope `{}`, treated as the system scope", short(name));
    SyncScope { scope: Some(known.unwrap_or(Scope::Sys)), note: known.is_none().then_some(unknown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_languages_are_not_known() {
        for name in ["system", "cta", "gpu", "agent"] {
            let SyncScope { scope, note } = sync_scope(name);
            assert_eq!(scope, Some(Scope::Sys), "{name}");
            assert!(note.is_some_and(|note| note.starts_with("unknown scope")), "{name}");
        }
        for (name, is) in [("block", Scope::Cta), ("device", Scope::Gpu), ("", Scope::Sys)] {
            let SyncScope { scope, note } = sync_scope(name);
            assert_eq!((scope, note), (Some(is), None), "{name}");
        }
    }
}
