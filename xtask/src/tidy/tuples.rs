//! Tuples: a function takes values by their names, so a small struct stands where a tuple parameter would.

use crate::source::Source;
use crate::workspace::Workspace;

use super::Finding;

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let sources = workspace.sources.iter();
    sources
        .filter(|source| !source.test_only)
        .flat_map(judge)
        .collect()
}

/// The functions of a source that take a tuple.
fn judge(source: &Source) -> Vec<Finding> {
    let message = "this function takes a tuple: give its values names in a small struct";
    let lines = source.tuple_parameters.iter();
    lines
        .map(|line| Finding::at(source.path.clone(), *line, message))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        let path = "crates/x/src/lib.rs";
        let source = Source::parse("x", "crates/x", path, text).unwrap();
        judge(&source).len()
    }

    #[test]
    fn a_tuple_parameter_is_found_by_value_and_by_reference_in_functions_methods_and_traits() {
        assert_eq!(findings("fn f((a, b): (u8, u8)) {}"), 1);
        assert_eq!(findings("impl X { fn f(&self, both: &(u8, u8)) {} }"), 1);
        assert_eq!(findings("trait X { fn f(&self, both: (u8, u8)); }"), 1);
        assert_eq!(findings("fn f(a: u8, list: &[(u8, u8)], unit: ()) {}"), 0);
        let test = "#[cfg(test)] mod tests { fn f(a: (u8, u8)) {} }";
        assert_eq!(findings(test), 0);
    }
}
