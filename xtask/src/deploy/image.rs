//! The container image, written without a daemon: an OCI image layout as a tar archive (OCI Image Format Specification
//! 1.1). It has the program, the libraries that it needs, the certificates of authorities, and nothing else.

use std::path::Path;

use serde_json::{Value, json};

use crate::workspace::{output, root};

use super::{
    archive::{Entry, tar, with_folders},
    payload::{Payload, gzip, read, sha256},
};

/// The number of the user that the program runs as.
const USER: u32 = 7380;
/// The authorities that the system which makes the image trusts.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";
const DATA: &str = "var/lib/selfsame";
const TOKEN: &str = "var/lib/selfsame-operator";

/// A blob of the layout.
struct Blob {
    kind: &'static str,
    digest: String,
    content: Vec<u8>,
}

impl Blob {
    fn of(kind: &'static str, content: Vec<u8>) -> Result<Self, String> {
        Ok(Self {
            kind,
            digest: sha256(&content)?,
            content,
        })
    }

    fn descriptor(&self) -> Value {
        json!({
            "mediaType": self.kind,
            "digest": format!("sha256:{}", self.digest),
            "size": self.content.len(),
        })
    }

    fn entry(&self) -> Entry {
        Entry::file(
            &format!("blobs/sha256/{}", self.digest),
            self.content.clone(),
        )
    }
}

/// The image as an archive that `podman load`, `docker load` and `skopeo copy oci-archive:` take.
pub fn archive(payload: &Payload) -> Result<Vec<u8>, String> {
    let authorities = read(Path::new(AUTHORITIES))
        .map_err(|error| format!("{error}\nhint: apt-get install ca-certificates"))?;
    archive_with(payload, authorities)
}

fn archive_with(payload: &Payload, authorities: Vec<u8>) -> Result<Vec<u8>, String> {
    let layer = tar(&files(payload, authorities)?, "", payload.time)?;
    let diff = format!("sha256:{}", sha256(&layer)?);
    let layer = Blob::of("application/vnd.oci.image.layer.v1.tar+gzip", gzip(&layer)?)?;
    let config = config(payload, &diff)?;
    let config = Blob::of("application/vnd.oci.image.config.v1+json", written(&config))?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config.descriptor(),
        "layers": [layer.descriptor()],
    });
    let manifest = Blob::of(
        "application/vnd.oci.image.manifest.v1+json",
        written(&manifest),
    )?;
    let mut named = manifest.descriptor();
    named["annotations"] = json!({
        "io.containerd.image.name": "localhost/selfsame:latest",
        "org.opencontainers.image.ref.name": "latest",
    });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [named],
    });
    let entries = vec![
        Entry::file(
            "oci-layout",
            written(&json!({"imageLayoutVersion": "1.0.0"})),
        ),
        Entry::file("index.json", written(&index)),
        layer.entry(),
        config.entry(),
        manifest.entry(),
    ];
    tar(&with_folders(entries), "", payload.time)
}

/// The files of the only layer.
fn files(payload: &Payload, authorities: Vec<u8>) -> Result<Vec<Entry>, String> {
    let passwd = format!("root:x:0:0::/:/\nselfsame:x:{USER}:{USER}::/{DATA}:/\n");
    let settings = read(&root().join("deploy/container/selfsame.toml"))?;
    let mut entries = vec![
        Entry::file("usr/bin/selfsame", payload.program.clone()).mode(0o755),
        Entry::file(AUTHORITIES.trim_start_matches('/'), authorities),
        Entry::file("etc/passwd", passwd),
        Entry::file("etc/group", format!("root:x:0:\nselfsame:x:{USER}:\n")),
        Entry::file("etc/nsswitch.conf", "hosts: files dns\n"),
        Entry::file("etc/selfsame/selfsame.toml", settings),
        Entry::folder(DATA).mode(0o700).owner(USER),
        Entry::folder(TOKEN).mode(0o700).owner(USER),
        Entry::folder("tmp").mode(0o1777),
    ];
    for library in &payload.libraries {
        let path = library
            .path
            .to_str()
            .ok_or("a library's path is not UTF-8")?;
        let file = Entry::file(path.trim_start_matches('/'), library.content.clone());
        entries.push(file.mode(0o755));
    }
    Ok(with_folders(entries))
}

/// How the image is started.
fn config(payload: &Payload, diff: &str) -> Result<Value, String> {
    let at = format!("@{}", payload.time);
    let created = output(&root(), "date", &["--utc", "--date", &at, "+%FT%TZ"])?;
    let created = created.trim();
    let volumes = |path: &str| (format!("/{path}"), json!({}));
    let volumes: serde_json::Map<String, Value> = [DATA, TOKEN].map(volumes).into_iter().collect();
    Ok(json!({
        "created": created,
        "architecture": payload.processor.container,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ["PATH=/usr/bin", format!("SSL_CERT_FILE={AUTHORITIES}")],
            "Entrypoint": ["/usr/bin/selfsame"],
            "Cmd": ["up", "--config", "/etc/selfsame/selfsame.toml"],
            "WorkingDir": format!("/{DATA}"),
            "Volumes": volumes,
            "ExposedPorts": {"7380/tcp": {}},
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "selfsame",
                "org.opencontainers.image.version": payload.version,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [diff]},
        "history": [{"created": created, "created_by": "cargo xtask package image"}],
    }))
}

fn written(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::tests::payload;
    use super::*;

    #[test]
    fn the_same_input_has_the_same_bytes_and_another_program_another_digest() {
        let image = |payload: &Payload| archive_with(payload, b"authorities".to_vec()).unwrap();
        assert_eq!(image(&payload()), image(&payload()));
        let mut other = payload();
        other.program.push(0);
        assert_ne!(image(&payload()), image(&other));
    }

    #[test]
    fn each_blob_has_its_digest_for_a_name_and_the_layer_has_what_the_program_needs() {
        let folder = std::env::temp_dir().join(format!("selfsame-oci-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("image.tar");
        std::fs::write(
            &file,
            archive_with(&payload(), b"authorities".to_vec()).unwrap(),
        )
        .unwrap();
        let unpacked = Command::new("tar")
            .args(["-xf"])
            .arg(&file)
            .arg("-C")
            .arg(&folder)
            .status();
        assert!(unpacked.unwrap().success());
        let index = std::fs::read(folder.join("index.json")).unwrap();
        let index: Value = serde_json::from_slice(&index).unwrap();
        let blob = |descriptor: &Value| {
            let digest = descriptor["digest"]
                .as_str()
                .unwrap()
                .strip_prefix("sha256:")
                .unwrap();
            let content = std::fs::read(folder.join("blobs/sha256").join(digest)).unwrap();
            assert_eq!(sha256(&content).unwrap(), digest);
            assert_eq!(descriptor["size"].as_u64(), Some(content.len() as u64));
            content
        };
        let manifest: Value = serde_json::from_slice(&blob(&index["manifests"][0])).unwrap();
        let config: Value = serde_json::from_slice(&blob(&manifest["config"])).unwrap();
        assert_eq!(config["config"]["User"], "7380:7380");
        let layer = folder.join("layer.tar.gz");
        std::fs::write(&layer, blob(&manifest["layers"][0])).unwrap();
        let listed = Command::new("tar")
            .args(["--numeric-owner", "-tzvf"])
            .arg(&layer)
            .output();
        let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
        for line in [
            "usr/bin/selfsame",
            "lib/libc.so.6",
            "etc/ssl/certs/ca-certificates.crt",
            "drwx------ 7380/7380",
        ] {
            assert!(listed.contains(line), "{line} in {listed}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
