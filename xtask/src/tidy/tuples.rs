//! Tuples: a function takes values by their names, so a small struct stands where a tuple parameter would.

use crate::workspace::Workspace;

use super::Finding;

/// How many functions of a crate still take a tuple. A number may only fall; a crate without a line has none.
const LEFT: &[(&str, usize)] = &[("selfsame-app", 39)];

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let packages = workspace.packages.iter();
    packages
        .flat_map(|package| {
            let sources = workspace.sources.iter();
            let sources = sources.filter(|source| source.package == package.name);
            let found = sources
                .filter(|source| !source.test_only)
                .flat_map(|source| {
                    let lines = source.tuple_parameters.iter();
                    lines.map(|line| (source.path.clone(), *line))
                });
            let left = LEFT.iter().find(|(name, _)| *name == package.name);
            judge(
                &package.folder,
                found.collect(),
                left.map_or(0, |(_, left)| *left),
            )
        })
        .collect()
}

/// Compares the functions with a tuple parameter (path and line of each) with the number a crate may still have.
fn judge(folder: &str, found: Vec<(String, usize)>, left: usize) -> Vec<Finding> {
    if found.len() < left {
        let count = found.len();
        let lower = format!("{count} functions take a tuple: write that number into tuples.rs");
        return vec![Finding::new(folder, lower)];
    }
    if found.len() == left {
        return Vec::new();
    }
    let message = "this function takes a tuple: give its values names in a small struct";
    let found = found.into_iter();
    found
        .map(|(path, line)| Finding::at(path, line, message))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::source::Source;

    use super::*;

    fn findings(text: &str, left: usize) -> usize {
        let path = "crates/x/src/lib.rs";
        let source = Source::parse("x", "crates/x", path, text).unwrap();
        let lines = source.tuple_parameters.iter();
        let found = lines.map(|line| (path.to_owned(), *line)).collect();
        judge("crates/x", found, left).len()
    }

    #[test]
    fn a_tuple_parameter_is_found_by_value_and_by_reference_in_functions_methods_and_traits() {
        assert_eq!(findings("fn f((a, b): (u8, u8)) {}", 0), 1);
        assert_eq!(findings("impl X { fn f(&self, both: &(u8, u8)) {} }", 0), 1);
        assert_eq!(findings("trait X { fn f(&self, both: (u8, u8)); }", 0), 1);
        assert_eq!(
            findings("fn f(a: u8, list: &[(u8, u8)], unit: ()) {}", 0),
            0
        );
        assert_eq!(
            findings("#[cfg(test)] mod tests { fn f(a: (u8, u8)) {} }", 0),
            0
        );
    }

    #[test]
    fn a_crate_has_as_many_as_are_left_and_its_number_falls_with_them() {
        let two = "fn f(a: (u8, u8)) {} fn g(a: (u8, u8)) {}";
        assert_eq!(findings(two, 2), 0);
        assert_eq!(findings(two, 1), 2);
        assert_eq!(findings(two, 3), 1);
    }
}
