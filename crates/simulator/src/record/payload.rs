//! The bytes of datagrams, and the secrets that they are encrypted with, for captures.

use std::collections::BTreeMap;

use selfclock_congestion::units::Time;

/// TLS secrets of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secrets {
    /// When both ends could know them. No packet before needs them.
    pub time: Time,
    /// Index of the flow.
    pub flow: u32,
    /// Lines of the NSS key log format, which `SSLKEYLOGFILE` names a file of.
    pub key_log: String,
}

/// The UDP payload of datagrams, each under the number of its packet, and secrets in the order of
/// time.
#[derive(Clone, Debug, Default)]
pub struct Payloads {
    datagrams: BTreeMap<u32, Box<[u8]>>,
    secrets: Vec<Secrets>,
}

impl Payloads {
    /// Keeps the payload of the packet with this number.
    pub fn add(&mut self, packet: u32, bytes: &[u8]) {
        self.datagrams.insert(packet, bytes.into());
    }

    /// Keeps secrets, which are not older than those before.
    pub fn add_secrets(&mut self, secrets: Secrets) {
        self.secrets.push(secrets);
    }

    /// Takes over what others hold, whose secrets are not older.
    pub fn append(&mut self, mut others: Self) {
        self.datagrams.append(&mut others.datagrams);
        self.secrets.append(&mut others.secrets);
    }

    /// The payload of a packet; `None` if it is not kept.
    pub fn of(&self, packet: u64) -> Option<&[u8]> {
        self.datagrams.get(&u32::try_from(packet).ok()?).map(AsRef::as_ref)
    }

    /// Drops the payload of a packet.
    pub fn forget(&mut self, packet: u64) {
        if let Ok(packet) = u32::try_from(packet) {
            self.datagrams.remove(&packet);
        }
    }

    /// Secrets, in the order of time.
    pub fn secrets(&self) -> &[Secrets] {
        &self.secrets
    }

    /// Datagrams whose payload is kept.
    pub fn len(&self) -> usize {
        self.datagrams.len()
    }

    /// No payload is kept.
    pub fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }
}
