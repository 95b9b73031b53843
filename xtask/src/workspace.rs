//! The workspace as the checks see it: packages, their dependencies, and every file under version control.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use crate::source::Source;

/// Everything that `tidy` checks.
pub struct Workspace {
    pub root: PathBuf,
    pub packages: Vec<Package>,
    /// Names under `[workspace.dependencies]` that are not our crates.
    pub shared: Vec<String>,
    /// Every text file under version control, with its path from the root.
    pub texts: Vec<Text>,
    /// Every Rust file of a member, parsed.
    pub sources: Vec<Source>,
}

/// A text file.
pub struct Text {
    pub path: String,
    pub text: String,
}

/// One member of the workspace.
#[derive(Deserialize)]
pub struct Package {
    pub name: String,
    pub manifest_path: PathBuf,
    pub dependencies: Vec<Dependency>,
    /// The member's folder, as a path from the root.
    #[serde(skip)]
    pub folder: String,
}

/// One declared dependency of a member.
#[derive(Clone, Deserialize)]
pub struct Dependency {
    pub name: String,
    pub kind: Option<String>,
}

impl Dependency {
    pub fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// The root of the checkout that cargo runs in. It is read at run time, because one build folder may serve several
/// checkouts.
pub fn root() -> PathBuf {
    #[allow(
        clippy::disallowed_methods,
        reason = "cargo tells its child where it is by no other way"
    )]
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let root = xtask.and_then(|folder| folder.parent().map(Path::to_path_buf));
    root.unwrap_or_else(|| PathBuf::from("."))
}

impl Workspace {
    /// Reads the workspace: `cargo metadata` for the packages, git for the list of files.
    pub fn load() -> Result<Self, String> {
        let root = root();
        let texts = texts(&root)?;
        let packages = packages(&root)?;
        let sources = sources(&packages, &texts)?;
        let manifest = texts.iter().find(|text| text.path == "Cargo.toml");
        let shared = shared_dependencies(manifest.map_or("", |text| &text.text))?;
        Ok(Self {
            root,
            packages,
            shared,
            texts,
            sources,
        })
    }

    /// The text of the file at `path`, if it exists.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts
            .iter()
            .find(|text| text.path == path)
            .map(|text| text.text.as_str())
    }
}

fn packages(root: &Path) -> Result<Vec<Package>, String> {
    let json = output(
        root,
        &cargo(),
        &["metadata", "--format-version", "1", "--no-deps"],
    )?;
    let metadata: Metadata =
        serde_json::from_str(&json).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut packages = metadata.packages;
    for package in &mut packages {
        let folder = package
            .manifest_path
            .parent()
            .and_then(|dir| dir.strip_prefix(root).ok());
        package.folder = folder
            .map(|dir| dir.display().to_string())
            .unwrap_or_default();
    }
    Ok(packages)
}

fn texts(root: &Path) -> Result<Vec<Text>, String> {
    let list = output(
        root,
        "git",
        &[
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ],
    )?;
    let paths: BTreeSet<&str> = list.split('\0').filter(|path| !path.is_empty()).collect();
    // Skips files that are not UTF-8, and files that git lists but that are deleted.
    let read = |path: &str| {
        let text = std::fs::read_to_string(root.join(path)).ok()?;
        Some(Text {
            path: path.to_owned(),
            text,
        })
    };
    Ok(paths.into_iter().filter_map(read).collect())
}

fn sources(packages: &[Package], texts: &[Text]) -> Result<Vec<Source>, String> {
    let rust = texts.iter().filter(|text| text.path.ends_with(".rs"));
    let owned = rust.filter_map(|text| {
        let owner = packages.iter().find(|package| {
            text.path
                .strip_prefix(&package.folder)
                .is_some_and(|rest| rest.starts_with('/'))
        })?;
        Some((owner, text))
    });
    let mut sources = owned
        .map(|(owner, text)| Source::parse(&owner.name, &owner.folder, &text.path, &text.text))
        .collect::<Result<Vec<_>, _>>()?;
    crate::source::mark_tests(&mut sources);
    Ok(sources)
}

fn shared_dependencies(manifest: &str) -> Result<Vec<String>, String> {
    let manifest: toml::Table = manifest
        .parse()
        .map_err(|error| format!("Cargo.toml: {error}"))?;
    let shared = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"));
    let names = shared
        .and_then(toml::Value::as_table)
        .into_iter()
        .flat_map(toml::Table::keys);
    Ok(names
        .filter(|name| !name.starts_with("selfsame"))
        .cloned()
        .collect())
}

/// The path of the cargo that runs this program.
pub fn cargo() -> String {
    option_env!("CARGO").unwrap_or("cargo").to_owned()
}

pub fn output(root: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let failed = |reason: String| format!("{program} {}: {reason}", arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ));
    }
    String::from_utf8(output.stdout).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_dependencies_leave_out_our_own() {
        let manifest = "[workspace.dependencies]\nselfsame-did = { path = \"x\" }\nurl = \"2\"\n";
        assert_eq!(shared_dependencies(manifest).unwrap(), ["url"]);
    }
}
