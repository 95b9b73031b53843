//! `cargo xtask package try`: the packages on a fresh Debian root and in the container's own file system: installed,
//! started as their services start them, upgraded, removed and purged; and the settings for programs beside them.

mod proxy;
mod service;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::{
    machine,
    workspace::{output, root},
};

use super::{
    deb, image,
    payload::{self, Payload, path},
};
use service::{Service, Start};

/// What the trial needs, and the packages that have it.
const NEEDED: [(&str, &str); 5] = [
    ("caddy", "caddy"),
    ("curl", "curl"),
    ("debootstrap", "debootstrap"),
    ("promtool", "prometheus"),
    ("skopeo", "skopeo"),
];
/// The user of the service on Debian, which systemd would choose.
const USER: u32 = 61_184;
/// That of the container.
const CONTAINER_USER: u32 = 7380;

/// Tries the packages; returns whether all went well.
pub fn run(program: PathBuf) -> Result<bool, String> {
    let missing: Vec<&str> = NEEDED
        .iter()
        .filter(|(program, _)| !machine::runs(program) && !machine::answers(program, "version"))
        .map(|(_, package)| *package)
        .collect();
    if !missing.is_empty() {
        machine::install(&missing)?;
    }
    let old = Payload::of(&program, "0.0.1")?;
    let new = Payload::of(&program, "0.0.2")?;
    debian(&old, &new)?;
    println!("    the Debian package installs, serves, upgrades, is removed and is purged");
    container(&new)?;
    println!("    the container image is read by skopeo, unpacked, and serves");
    proxy::try_all(&program)?;
    Ok(true)
}

/// A file system that programs are started in.
struct FileSystem {
    root: PathBuf,
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        let _left = fs::remove_dir_all(&self.root);
    }
}

impl FileSystem {
    /// A copy of a fresh Debian, which is made once.
    fn debian() -> Result<Self, String> {
        let base = root().join("target/package/debian");
        if !base.join("usr/bin/dpkg").exists() {
            println!("    debootstrap makes a Debian root (a minute)");
            let unfinished = root().join("target/package/debian.unfinished");
            let _not_there = fs::remove_dir_all(&unfinished);
            let release = release()?;
            output(
                &root(),
                "debootstrap",
                &["--variant=minbase", &release, path(&unfinished)?],
            )?;
            fs::rename(&unfinished, &base)
                .map_err(|error| format!("{}: {error}", base.display()))?;
        }
        let copy = Self::empty("target/package/try-debian")?;
        output(
            &root(),
            "cp",
            &[
                "--archive",
                &format!("{}/.", path(&base)?),
                path(&copy.root)?,
            ],
        )?;
        Ok(copy)
    }

    fn empty(at: &str) -> Result<Self, String> {
        let root = root().join(at);
        let _not_there = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).map_err(|error| format!("{}: {error}", root.display()))?;
        Ok(Self { root })
    }

    /// The place of a file of it.
    fn at(&self, inside: &str) -> PathBuf {
        self.root.join(inside.trim_start_matches('/'))
    }

    /// Runs a program in it as root.
    fn run(&self, words: &[&str]) -> Result<String, String> {
        let arguments = [&[path(&self.root)?], words].concat();
        output(&root(), "chroot", &arguments)
    }

    fn has(&self, inside: &str) -> bool {
        self.at(inside).exists()
    }

    /// Makes a folder of a user, as systemd does before it starts a service.
    fn folder(&self, inside: &str, user: u32) -> Result<(), String> {
        let at = self.at(inside);
        fs::create_dir_all(&at).map_err(|error| format!("{}: {error}", at.display()))?;
        set_mode(&at, 0o700)?;
        let owner = format!("{user}:{user}");
        output(&root(), "chown", &["--recursive", &owner, path(&at)?]).map(|_| ())
    }

    fn read(&self, inside: &str) -> Result<String, String> {
        let bytes = payload::read(&self.at(inside))?;
        String::from_utf8(bytes).map_err(|error| format!("{inside}: {error}"))
    }

    fn write(&self, inside: &str, content: &[u8]) -> Result<(), String> {
        fs::write(self.at(inside), content).map_err(|error| format!("{inside}: {error}"))
    }
}

fn set_mode(at: &Path, mode: u32) -> Result<(), String> {
    let set = fs::set_permissions(at, fs::Permissions::from_mode(mode));
    set.map_err(|error| format!("{}: {error}", at.display()))
}

/// The name of the Debian release of this machine.
fn release() -> Result<String, String> {
    let about =
        fs::read_to_string("/etc/os-release").map_err(|error| format!("os-release: {error}"))?;
    let name = about
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    Ok(name.ok_or("this is not a Debian release")?.to_owned())
}

fn must(holds: bool, what: &str) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(format!("not so: {what}")),
    }
}

fn debian(old: &Payload, new: &Payload) -> Result<(), String> {
    let debian = FileSystem::debian()?;
    install(&debian, old)?;
    let key = debian.read("etc/selfsame/master-key")?;
    must(key.len() == 64, "the master key has 64 digits")?;
    let mode = fs::metadata(debian.at("etc/selfsame/master-key"))
        .map(|it| it.permissions().mode() & 0o777);
    must(mode.ok() == Some(0o600), "only root reads the master key")?;
    debian.run(&["dpkg", "--verify", "selfsame"])?;
    // An operator chooses other ports.
    let (port, health) = (service::free_port()?, service::free_port()?);
    let settings = debian.read("etc/selfsame/selfsame.toml")?;
    let settings = settings.replace("127.0.0.1:7380", &format!("127.0.0.1:{port}"));
    let settings = settings.replace("127.0.0.1:7391", &format!("127.0.0.1:{health}"));
    debian.write("etc/selfsame/selfsame.toml", settings.as_bytes())?;
    debian.run(&["selfsame", "config", "check"])?;
    serve(&debian, port)?;
    must(
        debian.has("var/lib/selfsame/store.sqlite"),
        "the records are in the service's folder",
    )?;
    let token = debian.read("var/lib/selfsame-operator/token")?;

    install(&debian, new)?;
    must(
        debian.read("etc/selfsame/selfsame.toml")? == settings,
        "an upgrade keeps the settings",
    )?;
    must(
        debian.read("etc/selfsame/master-key")? == key,
        "an upgrade keeps the master key",
    )?;
    serve(&debian, port)?;
    must(
        debian.read("var/lib/selfsame-operator/token")? == token,
        "an upgrade keeps the data",
    )?;

    debian.run(&["dpkg", "--remove", "selfsame"])?;
    must(!debian.has("usr/bin/selfsame"), "the program is removed")?;
    for kept in [
        "etc/selfsame/selfsame.toml",
        "etc/selfsame/master-key",
        "var/lib/selfsame/store.sqlite",
    ] {
        must(
            debian.has(kept),
            &format!("{kept} stays when the package is removed"),
        )?;
    }
    debian.run(&["dpkg", "--purge", "selfsame"])?;
    for gone in [
        "etc/selfsame",
        "var/lib/selfsame",
        "var/lib/selfsame-operator",
        "usr/share/doc/selfsame",
    ] {
        must(
            !debian.has(gone),
            &format!("{gone} goes when the package is purged"),
        )?;
    }
    let audit = debian.run(&["dpkg", "--audit"])?;
    must(
        audit.is_empty(),
        &format!("dpkg finds nothing half done: {audit}"),
    )
}

fn install(debian: &FileSystem, payload: &Payload) -> Result<(), String> {
    debian.write("selfsame.deb", &deb::package(payload)?)?;
    debian.run(&["dpkg", "--install", "/selfsame.deb"])?;
    let version = debian.run(&[
        "dpkg-query",
        "--show",
        "--showformat=${Version}",
        "selfsame",
    ])?;
    must(version == payload.version, "the version is installed")
}

/// Starts the command of the unit with what systemd would give it, and stops it.
fn serve(debian: &FileSystem, port: u16) -> Result<(), String> {
    let unit = debian.read("lib/systemd/system/selfsame.service")?;
    let command = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="));
    let command: Vec<&str> = command
        .ok_or("the unit starts nothing")?
        .split(' ')
        .collect();
    for state in [
        "var/lib/selfsame",
        "var/lib/selfsame-operator",
        "run/credentials",
    ] {
        debian.folder(state, USER)?;
    }
    let key = debian.read("etc/selfsame/master-key")?;
    debian.write("run/credentials/master-key", key.as_bytes())?;
    set_mode(&debian.at("run/credentials/master-key"), 0o400)?;
    debian.folder("run/credentials", USER)?;
    let start = Start {
        root: &debian.root,
        user: USER,
        command: &command,
        environment: &["CREDENTIALS_DIRECTORY=/run/credentials"],
    };
    try_service(&start, port)
}

fn try_service(start: &Start<'_>, port: u16) -> Result<(), String> {
    let mut service = Service::start(start)?;
    service.hears("READY=1")?;
    let ready = service::get(port, "/readyz")?;
    must(
        ready.starts_with("HTTP/1.1 200"),
        &format!("it serves: {ready}"),
    )?;
    let page = service::get(port, "/")?;
    must(page.contains("<html"), "it shows its front page")?;
    service.hears("WATCHDOG=1")?;
    service.signal("-HUP")?;
    service.hears("RELOADING=1")?;
    service.hears("READY=1")?;
    service.signal("-TERM")?;
    service.hears("STOPPING=1")?;
    service.ends_well()
}

fn container(payload: &Payload) -> Result<(), String> {
    let archive = image::archive(payload)?;
    must(
        archive == image::archive(payload)?,
        "an image is the same each time",
    )?;
    let file = super::write("selfsame-image-try.tar", &archive)?;
    let unpacked = FileSystem::empty("target/package/try-image")?;
    let layout = FileSystem::empty("target/package/try-layout")?;
    let source = format!("oci-archive:{}", path(&file)?);
    let inspected = output(&root(), "skopeo", &["inspect", &source])?;
    must(inspected.contains("\"Layers\""), "skopeo reads the image")?;
    // skopeo checks each digest while it copies.
    let plain = format!("dir:{}", path(&layout.root)?);
    output(
        &root(),
        "skopeo",
        &["copy", "--insecure-policy", "--quiet", &source, &plain],
    )?;
    let layers = fs::read_dir(&layout.root).map_err(|error| error.to_string())?;
    for blob in layers.filter_map(Result::ok) {
        let is_layer = payload::read(&blob.path())?.starts_with(&[0x1f, 0x8b]);
        if is_layer {
            let (from, into) = (blob.path(), path(&unpacked.root)?);
            output(&root(), "tar", &["-xzf", path(&from)?, "-C", into])?;
        }
    }
    let port = service::free_port()?;
    let (listen, origin) = (
        format!("--listen=127.0.0.1:{port}"),
        format!("--origin=http://localhost:{port}/"),
    );
    let command = [
        "/usr/bin/selfsame",
        "up",
        "--config=/etc/selfsame/selfsame.toml",
        &listen,
        &origin,
    ];
    fs::create_dir_all(unpacked.at("run")).map_err(|error| error.to_string())?;
    let start = Start {
        root: &unpacked.root,
        user: CONTAINER_USER,
        command: &command,
        environment: &["SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"],
    };
    try_service(&start, port)?;
    let _gone = fs::remove_file(&file);
    Ok(())
}
