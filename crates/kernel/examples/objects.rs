//! `objects FOLDER`: loads every compiled algorithm of a folder into the running kernel, one at a
//! time, and sends 16 MB over the loopback device under each. A test for kernels without the rest
//! of this project: needs root, and its own network namespace.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{self, Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::process::ExitCode;

    use selfclock_congestion::Registry;
    use selfclock_kernel::linux::resident::{Scope, find, install};

    const BYTES: usize = 16_000_000;

    pub fn main() -> ExitCode {
        let mut all_good = true;
        let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
        let mut files: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
        files.sort_by_key(std::fs::DirEntry::path);
        for file in &files {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some(label) = name.strip_suffix(".o") else { continue };
            let read = std::fs::read(file.path()).map_err(Into::into);
            match read.and_then(|object| one(label, &object)) {
                Ok(said) => println!("good {label}: {said}"),
                Err(error) => {
                    all_good = false;
                    println!("BAD  {label}: {error}");
                }
            }
        }
        println!("{} objects, {}", files.len(), if all_good { "all good" } else { "not all good" });
        if all_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn one(label: &str, object: &[u8]) -> Result<String, Box<dyn std::error::Error>> {
        const NAME: &str = "sc_example";
        let selection = Registry::built_in().read(label)?;
        let programs = install(object, &selection, label, NAME)?.programs;
        let resident = find()?.into_iter().find(|each| each.name == NAME && each.is_registered());
        let resident = resident.ok_or("not to be found")?;
        let sent = resident.make_default(Scope::Own).and_then(|_| transfer());
        let totals = resident.control.totals();
        resident.unload()?;
        sent?;
        if totals.flows == 0 || totals.acks == 0 || totals.without_state > 0 {
            return Err(format!("{totals:?}").into());
        }
        Ok(format!("{programs} programs, {} connections, {} ACKs", totals.flows, totals.acks))
    }

    /// Sends over the loopback device.
    fn transfer() -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut sender = TcpStream::connect(listener.local_addr()?)?;
        let receiver = std::thread::spawn(move || -> io::Result<u64> {
            let (mut connection, _) = listener.accept()?;
            let mut received = 0;
            let mut block = [0; 1 << 16];
            loop {
                match connection.read(&mut block)? {
                    0 => return Ok(received),
                    more => received += more as u64,
                }
            }
        });
        sender.write_all(&vec![0; BYTES])?;
        drop(sender);
        let received = receiver.join().map_err(|_| io::Error::other("a thread failed"))??;
        if received == BYTES as u64 {
            Ok(())
        } else {
            Err(io::Error::other(format!("{received} bytes came")))
        }
    }
}
