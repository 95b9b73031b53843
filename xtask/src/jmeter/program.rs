//! JMeter itself, from Maven Central in a folder under `target/`: the files of its release in their layout, each pinned
//! by its hash.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{machine, node::succeeds, workspace::root};

/// What Maven fetches, and where it puts it. It has the version.
const PROJECT: &str = "pom.xml";
/// The hash of each library, as `sha256sum` writes it.
const HASHES: &str = "jars.sha256";
/// The programs that are needed, and their Debian packages.
const PROGRAMS: [(&str, &str); 2] = [("java", "default-jre-headless"), ("mvn", "maven")];

/// Installs JMeter, unless it is already there. Returns the file to start.
pub fn prepare() -> Result<PathBuf, String> {
    let missing = PROGRAMS.iter().filter(|(name, _)| !machine::runs(name));
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if !missing.is_empty() {
        println!("    missing: {} (JMeter needs it)", missing.join(" "));
        machine::install(&missing)?;
    }
    let folder = folder();
    if !is_ours(&folder) {
        println!(
            "    installing JMeter with Maven into {} (tests only)",
            folder.display()
        );
        fetch(&folder)?;
        if !is_ours(&folder) {
            return Err(format!(
                "what Maven fetched is not the JMeter of xtask/src/jmeter/{HASHES}\nhint: remove {} and try again",
                folder.display()
            ));
        }
    }
    println!("    JMeter is in {}", folder.display());
    Ok(folder.join("bin").join("ApacheJMeter.jar"))
}

fn fetch(folder: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    // JMeter looks for libraries of JUnit there, and complains if the folder is missing.
    fs::create_dir_all(folder.join("lib").join("junit")).map_err(failed)?;
    fs::copy(source(PROJECT), folder.join(PROJECT)).map_err(failed)?;
    let mut maven = Command::new("mvn");
    let fixed = ["--batch-mode", "--quiet", "--strict-checksums", "package"];
    let maven = maven.args(fixed).current_dir(folder).stdin(Stdio::null());
    match succeeds(maven)? {
        true => Ok(()),
        false => Err(format!(
            "`mvn package` failed in {}\nhint: run it by hand to see why; it needs the network once",
            folder.display()
        )),
    }
}

/// Whether every library is there with its hash, and the settings that JMeter reads.
fn is_ours(folder: &Path) -> bool {
    if !folder.join("bin").join("jmeter.properties").exists() {
        return false;
    }
    let checked = Command::new("sha256sum")
        .args(["--check", "--status", "--strict"])
        .arg(source(HASHES))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    checked.is_ok_and(|status| status.success())
}

fn source(name: &str) -> PathBuf {
    root().join("xtask").join("src").join("jmeter").join(name)
}

/// The folder with JMeter.
pub fn folder() -> PathBuf {
    root().join("target").join("jmeter")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_is_pinned_by_a_hash() {
        let text = fs::read_to_string(source(HASHES)).unwrap();
        assert_eq!(text.lines().count(), 152);
        for line in text.lines() {
            let (hash, file) = line.split_once("  ").unwrap();
            assert_eq!(hash.len(), 64, "{line}");
            assert!(file.ends_with(".jar"), "{line}");
        }
        assert!(text.contains("  bin/ApacheJMeter.jar\n"));
    }

    #[test]
    fn a_folder_without_the_libraries_is_not_ours() {
        assert!(!is_ours(Path::new("/nowhere")));
        assert!(!is_ours(&root()));
    }
}
