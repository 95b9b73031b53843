//! A run of a plan by JMeter, which ends by itself or after a time.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufRead as _, BufReader, Read},
    net::{Ipv4Addr, UdpSocket},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::{self, sleep},
    time::Duration,
};

/// How often it is looked whether JMeter has ended.
const LOOKED: Duration = Duration::from_millis(500);
/// How long JMeter may take to end after it was asked to: each user finishes a request.
const ENDED: Duration = Duration::from_secs(120);
/// The most memory that JMeter takes.
const MEMORY: &str = "-Xmx1g";
/// How often JMeter says how far it is, in seconds.
const TOLD: &str = "-Jsummariser.interval=30";

/// A run.
pub struct Load<'a> {
    /// The file with JMeter.
    pub program: &'a Path,
    pub plan: &'a Path,
    /// A folder for what JMeter writes.
    pub folder: &'a Path,
    /// The address of each host that the plan calls. JMeter finds no other host.
    pub hosts: &'a BTreeMap<String, Ipv4Addr>,
}

impl Load<'_> {
    /// Runs the plan for this time at most, while `lives` says that the agents do. Returns the file with the results.
    pub fn run(&self, time: Duration, lives: impl FnMut() -> bool) -> Result<PathBuf, String> {
        let results = self.folder.join("results.jtl");
        let port = free_port()?;
        let child = self.command(&results, port)?.spawn();
        let mut child = child.map_err(|error| format!("java: {error}"))?;
        let said = child.stdout.take();
        let telling = thread::spawn(move || {
            let lines = said.into_iter().flat_map(progress);
            lines.for_each(|line| println!("    {line}"));
        });
        let ended = watch(&mut child, time, lives).and_then(|is_done| match is_done {
            true => Ok(()),
            false => {
                println!("    {} minutes are over: JMeter ends", time.as_secs() / 60);
                shut_down(port)?;
                watch(&mut child, ENDED, || true)?;
                Ok(())
            }
        });
        if !matches!(child.try_wait(), Ok(Some(_))) {
            let _ = child.kill();
            let _ = child.wait();
            ended?;
            return Err("JMeter did not end when it was asked to".to_owned());
        }
        ended?;
        // The last line comes before the table.
        let _ = telling.join();
        match child.wait() {
            Ok(status) if status.success() => Ok(results),
            status => Err(format!(
                "JMeter failed ({status:?})\nhint: {} says why",
                self.log().display()
            )),
        }
    }

    fn command(&self, results: &Path, port: u16) -> Result<Command, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.folder.display());
        let hosts = self.folder.join("hosts");
        fs::write(&hosts, hosts_file(self.hosts, &name_of_this())).map_err(failed)?;
        let said = File::create(self.folder.join("jmeter-said")).map_err(failed)?;
        let mut command = Command::new("java");
        command
            .args([MEMORY, "-Djava.awt.headless=true"])
            .arg(format!("-Djdk.net.hosts.file={}", hosts.display()))
            .arg(format!(
                "-Djava.util.prefs.userRoot={}",
                self.folder.display()
            ))
            .arg("-jar")
            .arg(self.program)
            .args(["-n", TOLD])
            .arg(format!("-Jjmeterengine.nongui.port={port}"))
            .arg(format!("-Jjmeterengine.nongui.maxport={port}"))
            .arg("-Jjmeter.save.saveservice.output_format=csv")
            .arg("-t")
            .arg(self.plan)
            .arg("-l")
            .arg(results)
            .arg("-j")
            .arg(self.log())
            .current_dir(self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(said);
        Ok(command)
    }

    fn log(&self) -> PathBuf {
        self.folder.join("jmeter.log")
    }
}

/// The lines of what JMeter says that are about the run.
fn progress(said: impl Read) -> impl Iterator<Item = String> {
    let lines = BufReader::new(said).lines().map_while(Result::ok);
    lines.filter(|line| line.starts_with("summary"))
}

/// Waits until JMeter has ended, for this time at most. Returns whether it has.
fn watch(
    child: &mut Child,
    time: Duration,
    mut lives: impl FnMut() -> bool,
) -> Result<bool, String> {
    let times = time.as_millis() / LOOKED.as_millis();
    for _ in 0..times {
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(_)) => return Ok(true),
            Err(error) => return Err(format!("java: {error}")),
        }
        if !lives() {
            return Err("the instance has ended during the run".to_owned());
        }
        sleep(LOOKED);
    }
    Ok(false)
}

/// Asks JMeter to end: each user finishes the request that it makes.
fn shut_down(port: u16) -> Result<(), String> {
    let sent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|socket| socket.send_to(b"Shutdown", (Ipv4Addr::LOCALHOST, port)));
    let sent = sent.map_err(|error| format!("port {port} of JMeter: {error}"));
    sent.map(|_| ())
}

/// A port that is free now.
fn free_port() -> Result<u16, String> {
    let bound = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0));
    let bound = bound.and_then(|bound| bound.local_addr());
    let bound = bound.map_err(|error| format!("127.0.0.1: {error}"))?;
    Ok(bound.port())
}

/// The file of hosts for Java. JMeter looks for the name of this machine too.
fn hosts_file(hosts: &BTreeMap<String, Ipv4Addr>, this: &str) -> String {
    let lines = hosts.iter().map(|(name, at)| format!("{at} {name}\n"));
    let own = ["localhost", this].map(|name| format!("{} {name}\n", Ipv4Addr::LOCALHOST));
    let own = own.into_iter().filter(|line| !line.ends_with(" \n"));
    lines.chain(own).collect()
}

fn name_of_this() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    name.unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child(script: &str) -> Child {
        Command::new("sh").args(["-c", script]).spawn().unwrap()
    }

    #[test]
    fn the_file_of_hosts_has_the_hosts_of_the_plan_and_this_machine() {
        let hosts = BTreeMap::from([("issuer.example".to_owned(), Ipv4Addr::new(127, 0, 0, 2))]);
        let expected = "127.0.0.2 issuer.example\n127.0.0.1 localhost\n127.0.0.1 here\n";
        assert_eq!(hosts_file(&hosts, "here"), expected);
        assert!(hosts_file(&hosts, "").ends_with("localhost\n"));
    }

    #[test]
    fn of_what_jmeter_says_the_progress_is_shown() {
        let said =
            b"WARN of a library\nCreating summariser <summary>\nsummary + 3 in 00:01\n".as_slice();
        let shown: Vec<String> = progress(said).collect();
        assert_eq!(shown, ["summary + 3 in 00:01"]);
    }

    #[test]
    fn a_run_is_watched_until_it_ends_or_its_time_is_over_or_the_agents_end() {
        let mut ends = child("exit 0");
        assert_eq!(watch(&mut ends, ENDED, || true), Ok(true));
        let mut stays = child("sleep 60");
        assert_eq!(watch(&mut stays, LOOKED, || true), Ok(false));
        assert!(watch(&mut stays, ENDED, || false).is_err());
        stays.kill().unwrap();
        stays.wait().unwrap();
    }
}
