//! A Linux network namespace for each node, connected by a virtual cable to a switch that can be divided.

use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command, Stdio};

/// A network of namespaces. It is invisible outside, and ends with the processes in it.
pub struct Namespaces {
    /// The namespace of the switches.
    switch: Namespace,
    nodes: Vec<Namespace>,
}

/// A namespace, held by a process that lives as long as this one.
struct Namespace {
    holder: Child,
}

impl Namespaces {
    /// Creates a network of `count` namespaces; `None` if this machine does not allow it (it needs root and iproute2).
    pub fn create(count: usize) -> Option<Self> {
        let network = Self {
            switch: Namespace::create()?,
            nodes: (0..count)
                .map(|_| Namespace::create())
                .collect::<Option<_>>()?,
        };
        network.connect().then_some(network)
    }

    /// The address of a node.
    pub fn address(n: usize) -> IpAddr {
        let last = u8::try_from(n + 1).unwrap();
        IpAddr::V4(Ipv4Addr::new(10, 77, 0, last))
    }

    /// The prefix of a command that runs in this node's namespace.
    pub fn on(&self, n: usize) -> Vec<String> {
        self.nodes[n].enter()
    }

    /// Divides the nodes: only nodes of one side reach each other, since each side has a switch of its own.
    pub fn divide(&self, sides: &[usize]) {
        for (n, side) in sides.iter().enumerate() {
            let (port, switch) = (format!("port{n}"), format!("side{side}"));
            assert!(self.switch.ip(&["link", "set", &port, "master", &switch]));
        }
    }

    fn connect(&self) -> bool {
        let switches = (0..self.nodes.len()).all(|side| {
            let name = format!("side{side}");
            self.switch
                .ip(&["link", "add", &name, "up", "type", "bridge"])
        });
        switches
            && self.nodes.iter().enumerate().all(|(n, node)| {
                let (port, address) = (format!("port{n}"), format!("{}/24", Self::address(n)));
                let there = node.holder.id().to_string();
                self.switch.ip(&[
                    "link", "add", &port, "type", "veth", "peer", "name", "cable", "netns", &there,
                ]) && self
                    .switch
                    .ip(&["link", "set", &port, "master", "side0", "up"])
                    && node.ip(&["address", "add", &address, "dev", "cable"])
                    && node.ip(&["link", "set", "cable", "up"])
                    && node.ip(&["link", "set", "lo", "up"])
            })
    }
}

impl Namespace {
    fn create() -> Option<Self> {
        let mut holder = Command::new("unshare")
            .args(["--net", "sh", "-c", "echo; cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        // The process prints a line when it is ready, and ends with its input.
        let mut line = [0];
        let output = holder.stdout.as_mut()?;
        let is_there = std::io::Read::read_exact(output, &mut line).is_ok();
        let namespace = Self { holder };
        is_there.then_some(namespace)
    }

    fn enter(&self) -> Vec<String> {
        let namespace = format!("--net=/proc/{}/ns/net", self.holder.id());
        vec!["nsenter".to_owned(), namespace, "--".to_owned()]
    }

    fn ip(&self, arguments: &[&str]) -> bool {
        let enter = self.enter();
        let status = Command::new(&enter[0])
            .args(&enter[1..])
            .arg("ip")
            .args(arguments)
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
