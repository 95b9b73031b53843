//! Circles: dependencies between the modules of a crate, and between the children of one module, have no cycles. Only
//! parent and child may know each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::{source::Source, workspace::Workspace};

use super::Finding;

/// For each module, the modules that it names and where it names each of them first.
type Arrows<'a> = BTreeMap<&'a str, BTreeMap<&'a str, (&'a str, usize)>>;

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let packages = workspace.packages.iter();
    packages
        .flat_map(|package| {
            let root = format!("{}/src/", package.folder);
            let sources = workspace.sources.iter();
            let sources: Vec<&Source> = sources
                .filter(|source| !source.test_only && source.path.starts_with(&root))
                .collect();
            let folders = folders(&root, &sources);
            folders
                .iter()
                .flat_map(|folder| judge(&root, folder, &sources))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The folders of a crate that hold modules, its root first.
fn folders(root: &str, sources: &[&Source]) -> BTreeSet<String> {
    let folder_of = |source: &&Source| {
        let end = source.path.rfind('/')?;
        Some(source.path.get(..=end)?.to_owned())
    };
    let mut folders: BTreeSet<String> = sources.iter().filter_map(folder_of).collect();
    folders.insert(root.to_owned());
    folders
}

/// The findings for the modules in `folder`, of the crate whose sources are in `root`.
fn judge(root: &str, folder: &str, sources: &[&Source]) -> Vec<Finding> {
    let arrows = arrows(root, folder, sources);
    let circles = circles(&arrows);
    circles
        .iter()
        .flat_map(|circle| {
            let names: Vec<&str> = circle.iter().copied().collect();
            let message = format!(
                "modules lean on each other in a circle: {}",
                names.join(", ")
            );
            std::iter::once(Finding::new(folder, message)).chain(inside(&arrows, circle))
        })
        .collect()
}

/// One finding for each dependency within a cycle.
fn inside<'a>(
    arrows: &'a Arrows<'a>,
    circle: &'a BTreeSet<&'a str>,
) -> impl Iterator<Item = Finding> + 'a {
    circle.iter().flat_map(move |from| {
        let to = arrows.get(from).into_iter().flatten();
        to.filter(|(to, _)| circle.contains(*to))
            .map(move |(to, (path, line))| {
                Finding::at(*path, *line, format!("here {from} names {to}"))
            })
    })
}

fn arrows<'a>(root: &str, folder: &str, sources: &[&'a Source]) -> Arrows<'a> {
    let placed = |source: &&'a Source| {
        let inside = source.path.strip_prefix(folder)?.strip_suffix(".rs")?;
        Some((*source, inside.split('/').collect::<Vec<_>>()))
    };
    let placed: Vec<(&Source, Vec<&'a str>)> = sources.iter().filter_map(placed).collect();
    let is_top = root == folder;
    let is_root = |place: &[&str]| {
        is_top && (matches!(place, ["lib" | "main"]) || place.first() == Some(&"bin"))
    };
    // The way from the crate's root to the module whose children are judged, as paths write it.
    let inside = folder.strip_prefix(root).unwrap_or_default();
    let way = inside.replace('/', "::");
    let parent = format!("{}.rs", folder.trim_end_matches('/'));
    let modules: BTreeSet<&str> = placed
        .iter()
        .filter(|(_, place)| !is_root(place))
        .filter_map(|(_, place)| place.first().copied())
        .collect();
    // A name that the parent re-exports counts as the module it comes from.
    let mut given_on: BTreeMap<&str, &str> = BTreeMap::new();
    let roots = placed.iter().filter(|(_, place)| is_root(place));
    let parents = sources.iter().filter(|source| source.path == parent);
    for source in roots.map(|(source, _)| source).chain(parents) {
        for (path, _) in &source.paths {
            let path = path.strip_prefix("crate::").unwrap_or(path);
            let path = path.strip_prefix("self::").unwrap_or(path);
            let path = path.strip_prefix(way.as_str()).unwrap_or(path);
            let parts: Vec<&str> = path.split("::").collect();
            if let [module, .., name] = parts[..]
                && let Some(module) = modules.get(module)
            {
                given_on.insert(name, module);
            }
        }
    }
    let mut arrows = Arrows::new();
    for (source, place) in placed.iter().filter(|(_, place)| !is_root(place)) {
        let Some(from) = place.first().copied() else {
            continue;
        };
        let to = arrows.entry(from).or_default();
        for (path, line) in &source.paths {
            let Some(named) = child_named(path, &way, place.len()) else {
                continue;
            };
            let module = modules.get(named).or_else(|| given_on.get(named));
            if let Some(module) = module.filter(|module| **module != from) {
                to.entry(module).or_insert((&source.path, *line));
            }
        }
    }
    arrows
}

/// The child of the module at `way` that a path names, seen from a module at this depth below it.
fn child_named<'p>(path: &'p str, way: &str, depth: usize) -> Option<&'p str> {
    if let Some(path) = path.strip_prefix("crate::") {
        return path.strip_prefix(way)?.split("::").next();
    }
    let above = path.split("::").take_while(|part| *part == "super").count();
    (above == depth && above > 0).then(|| path.split("::").nth(above))?
}

/// The strongly connected components with more than one module.
fn circles<'a>(arrows: &Arrows<'a>) -> Vec<BTreeSet<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = arrows
        .keys()
        .map(|from| {
            let mut reached = BTreeSet::new();
            let mut next = vec![*from];
            while let Some(at) = next.pop() {
                let further = arrows.get(at).into_iter().flat_map(BTreeMap::keys);
                next.extend(further.filter(|to| reached.insert(**to)));
            }
            (*from, reached)
        })
        .collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|all| all.contains(to));
    let circles: BTreeSet<BTreeSet<&str>> = arrows
        .keys()
        .filter(|module| reaches(module, module))
        .map(|module| {
            let both = |other: &&&str| reaches(module, other) && reaches(other, module);
            arrows.keys().filter(both).copied().collect()
        })
        .collect();
    circles.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(name, text)| {
                Source::parse("x", "crates/x", &format!("crates/x/src/{name}"), text).unwrap()
            })
            .collect();
        let sources: Vec<&Source> = sources.iter().collect();
        let root = "crates/x/src/";
        let folders = folders(root, &sources);
        folders
            .iter()
            .flat_map(|folder| judge(root, folder, &sources))
            .map(|finding| finding.to_string())
            .collect()
    }

    #[test]
    fn modules_that_name_each_other_are_a_circle() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\n"),
            ("a.rs", "use crate::b::B;\n"),
            ("b/inner.rs", "fn f() { super::super::c::g() }\n"),
            ("c.rs", "use super::a::A;\n"),
        ];
        let found = findings(&files);
        assert!(found[0].ends_with("in a circle: a, b, c"), "{found:?}");
        assert_eq!(found.len(), 4);
        assert_eq!(findings(&files[..3]), [""; 0]);
    }

    #[test]
    fn what_the_root_gives_on_counts_as_the_module_it_is_from() {
        let found = findings(&[
            ("lib.rs", "mod a;\nmod b;\npub use b::{B, Other};\n"),
            ("a.rs", "use crate::B;\n"),
            ("b.rs", "use crate::a::A;\n"),
        ]);
        assert_eq!(found[1], "crates/x/src/a.rs:1: here a names b");
    }

    #[test]
    fn a_module_and_what_lies_below_it_are_one() {
        let files = [
            ("lib.rs", "mod a;\n"),
            ("a.rs", "use crate::a::inner::I;\n"),
            ("a/inner.rs", "use super::A;\nuse crate::a::A;\n"),
        ];
        assert_eq!(findings(&files), [""; 0]);
    }

    #[test]
    fn children_of_a_module_that_name_each_other_are_a_circle() {
        let files = [
            ("lib.rs", "mod a;\n"),
            ("a.rs", "mod b;\nmod c;\npub use c::C;\n"),
            ("a/b.rs", "use super::C;\n"),
            ("a/c/deep.rs", "use crate::a::b::B;\n"),
        ];
        let found = findings(&files);
        assert!(found[0].starts_with("crates/x/src/a/: "), "{found:?}");
        assert!(found[0].ends_with("in a circle: b, c"), "{found:?}");
        assert_eq!(findings(&files[..3]), [""; 0]);
    }
}
