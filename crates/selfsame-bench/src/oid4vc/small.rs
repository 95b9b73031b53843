//! The measurements of 1 to 40 users within the limits of the study's small device: half a core and 256 MB, by a
//! control group.

use std::path::{Path, PathBuf};

use super::{Oid4vcBench, users};
use crate::Error;
use crate::report::{Bar, Figure};

const MEMORY: u64 = 256 * 1024 * 1024;
const PERIOD_US: u64 = 100_000;
const QUOTA_US: u64 = 50_000;

/// Measures 1 to 40 users under the limits, or notes why they can't be set here.
pub async fn measure(bench: &mut Oid4vcBench<'_>) -> Result<(), Error> {
    let mut stage = bench.stage("small", "").await?;
    // People register before the limits apply, since Argon2id is not measured.
    stage.people(40, bench.progress).await?;
    let group = match ControlGroup::around(stage.server.id()) {
        Ok(group) => group,
        Err(error) => {
            bench.figures.push(
                Figure::new("small_device_cores", 0.0, "cores").note(format!(
                    "not measured: no control group can be made here ({error})"
                )),
            );
            return Ok(());
        }
    };
    bench.figures.push(
        Figure::new("small_device_cores", 0.5, "cores").note(format!(
            "{} MB, by {}",
            MEMORY >> 20,
            group.kind()
        )),
    );
    users::measure(bench, &mut stage, "_small").await?;
    let failed = users::burst(&stage, users::Flow::Issue, 40, 5).await.failed;
    bench
        .figures
        .push(Figure::new("failed_at_40_small", failed as f64, "requests").bar(Bar::AtMost(0.0)));
    bench.figures.push(
        Figure::new("rss_mb_small", stage.server.usage().peak_mb, "MB").bar(Bar::AtMost(256.0)),
    );
    drop(stage);
    drop(group);
    Ok(())
}

/// A control group that limits one process; removed when dropped.
enum ControlGroup {
    /// Version 2: one directory.
    Unified(PathBuf),
    /// Version 1: one directory for each controller.
    Split {
        /// The directory of the processor controller.
        cpu: PathBuf,
        /// The directory of the memory controller.
        memory: PathBuf,
    },
}

impl ControlGroup {
    fn around(process: u32) -> std::io::Result<Self> {
        let name = format!("selfsame-bench-{process}");
        let root = Path::new("/sys/fs/cgroup");
        let id = process.to_string();
        if root.join("cgroup.controllers").exists() {
            let group = Self::Unified(made(root.join(name))?);
            group.set(
                "cpu.max",
                &format!("{QUOTA_US} {PERIOD_US}"),
                "memory.max",
                &MEMORY.to_string(),
            )?;
            group.set("cgroup.procs", &id, "cgroup.procs", &id)?;
            return Ok(group);
        }
        let group = Self::Split {
            cpu: made(root.join("cpu").join(&name))?,
            memory: made(root.join("memory").join(&name))?,
        };
        group.set(
            "cpu.cfs_period_us",
            &PERIOD_US.to_string(),
            "memory.limit_in_bytes",
            &MEMORY.to_string(),
        )?;
        group.set(
            "cpu.cfs_quota_us",
            &QUOTA_US.to_string(),
            "cgroup.procs",
            &id,
        )?;
        group.set("cgroup.procs", &id, "cgroup.procs", &id)?;
        Ok(group)
    }

    fn set(
        &self,
        cpu_file: &str,
        cpu_value: &str,
        memory_file: &str,
        memory_value: &str,
    ) -> std::io::Result<()> {
        let (cpu, memory) = match self {
            Self::Unified(path) => (path, path),
            Self::Split { cpu, memory } => (cpu, memory),
        };
        std::fs::write(cpu.join(cpu_file), cpu_value)?;
        std::fs::write(memory.join(memory_file), memory_value)
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Unified(_) => "cgroup v2",
            Self::Split { .. } => "cgroup v1",
        }
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // The group's process has ended, and an empty group can be removed.
        match self {
            Self::Unified(path) => drop(std::fs::remove_dir(path)),
            Self::Split { cpu, memory } => {
                drop(std::fs::remove_dir(cpu));
                drop(std::fs::remove_dir(memory));
            }
        }
    }
}

fn made(path: PathBuf) -> std::io::Result<PathBuf> {
    std::fs::create_dir(&path)?;
    Ok(path)
}
