//! Traces: no file names a folder of one developer's machine, and none has marks of unfinished work.

use std::path::Path;

use crate::workspace::Workspace;

use super::Finding;

/// Each is written in pieces, so that this file does not match itself.
const FOLDERS: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("../sha", "red"),
];
const LEFT_OVER: &[&str] = &[
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
    concat!("TO", "DO:"),
];

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let own = workspace.root.as_path();
    // Cargo writes the lock file.
    let texts = workspace
        .texts
        .iter()
        .filter(|text| text.path != "Cargo.lock");
    texts
        .flat_map(|text| check_text(&text.path, &text.text, own))
        .collect()
}

fn check_text(path: &str, text: &str, root: &Path) -> Vec<Finding> {
    let root = root.display().to_string();
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if FOLDERS.iter().any(|folder| is_path(line, folder))
            || (root.len() > 1 && is_path(line, &root))
        {
            findings.push(Finding::at(
                path,
                number,
                "names a folder of one machine; write a path from the root of the repository",
            ));
        }
        if let Some(mark) = LEFT_OVER.iter().find(|mark| line.contains(**mark)) {
            findings.push(Finding::at(
                path,
                number,
                format!("`{mark}` is work left over; do it or open an issue"),
            ));
        }
    }
    findings
}

/// Whether a line has a path that begins with `folder`, rather than, say, a URL with such a part.
fn is_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|letter| !letter.is_alphanumeric() && !"./_-}".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_ones_own_is_found() {
        let line = |folder: &str| format!("cd {folder}anna/selfsame\n");
        for folder in FOLDERS {
            assert_eq!(
                check_text("a.md", &line(folder), Path::new("/")).len(),
                1,
                "{folder}"
            );
        }
        assert_eq!(
            check_text(
                "a.md",
                "see /srv/checkout/docs\n",
                Path::new("/srv/checkout")
            )
            .len(),
            1
        );
    }

    #[test]
    fn an_address_is_no_folder() {
        let line = format!("https://example.com{}page\n", FOLDERS[0]);
        assert_eq!(check_text("a.md", &line, Path::new("/")), []);
    }

    #[test]
    fn work_left_over_is_found() {
        assert_eq!(
            check_text(
                "a.rs",
                &format!("// {} later\n", LEFT_OVER[0]),
                Path::new("/")
            )
            .len(),
            1
        );
    }
}
