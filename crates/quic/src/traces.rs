//! Destinations of connection traces.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfclock_congestion::trace::Recorder;
use selfclock_congestion::{Controller, Event, Selection, Setup};

/// Destination of connection traces: a folder, with a file per connection, or memory.
///
/// A trace has the format of [`selfclock_congestion::trace`]; `replay` there demands the same
/// decisions, to the bit. It is whole when the stack has dropped the connection. Of a connection
/// that moves to another path each path has a trace, which begins with what they have in common.
///
/// ```
/// use selfclock_quic::Traces;
///
/// let traces = Traces::in_memory();
/// let factory = selfclock_quic::Factory::<selfclock_quic::Quinn>::read("cubic")?.traced(&traces);
/// # drop(factory);
/// for trace in traces.take() {
///     selfclock_congestion::trace::replay(&selfclock_congestion::Registry::built_in(), &trace)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Traces(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// `None` for memory.
    folder: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of traces started.
    begun: u64,
    finished: Vec<(u64, Vec<u8>)>,
    error: Option<io::Error>,
}

impl Traces {
    /// Traces are kept until [`Traces::take`].
    pub fn in_memory() -> Self {
        Self(Arc::new(Shared { folder: None, state: Mutex::default() }))
    }

    /// Writes a file per connection to this folder, which is created if missing. Existing files are
    /// kept.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn in_folder(path: impl AsRef<Path>) -> io::Result<Self> {
        fs::create_dir_all(&path)?;
        let folder = Some(path.as_ref().to_owned());
        Ok(Self(Arc::new(Shared { folder, state: Mutex::default() })))
    }

    /// The traces of connections that ended since the last call, in order of their start; none with
    /// a folder.
    pub fn take(&self) -> Vec<Vec<u8>> {
        let mut finished = std::mem::take(&mut self.state().finished);
        finished.sort_unstable_by_key(|(number, _)| *number);
        finished.into_iter().map(|(_, trace)| trace).collect()
    }

    /// The first error of writing a trace. The connection continues; its trace ends there.
    pub fn error(&self) -> Option<io::Error> {
        self.state().error.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> u64 {
        let mut state = self.state();
        state.begun += 1;
        state.begun
    }
}

/// Events recorded of one connection, and their destination.
pub struct Trace {
    recorder: Recorder,
    traces: Traces,
    label: String,
    output: Output,
}

/// A copy of a trace is written from its first event on, because stacks also copy controllers for
/// inspection.
enum Output {
    /// No event yet. It starts with this many bytes of another trace's file.
    Waiting(Option<(PathBuf, u64)>),
    Memory(u64),
    File {
        file: File,
        path: PathBuf,
        written: u64,
    },
    Failed,
}

/// Bytes per write.
const PIECE: usize = 1 << 16;

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("controller", self.controller()).finish_non_exhaustive()
    }
}

impl Trace {
    /// The trace of a new connection.
    pub fn new(selection: &Selection, setup: Setup, traces: Traces) -> Self {
        let recorder = Recorder::new(selection, setup);
        Self { recorder, traces, label: selection.label(), output: Output::Waiting(None) }
    }

    /// The algorithm.
    pub const fn controller(&self) -> &Controller {
        self.recorder.controller()
    }

    /// Passes an event to the algorithm, and records its decision.
    pub fn on(&mut self, event: &Event) {
        if let Output::Waiting(beginning) = &mut self.output {
            let beginning = beginning.take();
            self.output = self.begin(beginning).unwrap_or_else(|error| self.fail(error));
        }
        self.recorder.on(event);
        if self.recorder.pending() >= PIECE {
            self.write();
        }
    }

    fn begin(&self, beginning: Option<(PathBuf, u64)>) -> io::Result<Output> {
        loop {
            let number = self.traces.begin();
            let Some(folder) = &self.traces.0.folder else { return Ok(Output::Memory(number)) };
            let path = folder.join(format!("{number:06}-{}.trace", self.label));
            let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let written = match beginning {
                Some((other, length)) => {
                    io::copy(&mut io::Read::take(File::open(other)?, length), &mut file)?
                }
                None => 0,
            };
            return Ok(Output::File { file, path, written });
        }
    }

    fn write(&mut self) {
        match &mut self.output {
            Output::Waiting(_) | Output::Memory(_) => {}
            Output::Failed => drop(self.recorder.take()),
            Output::File { file, written, .. } => {
                let piece = self.recorder.take();
                *written += piece.len() as u64;
                if let Err(error) = file.write_all(&piece) {
                    self.output = self.fail(error);
                }
            }
        }
    }

    fn fail(&self, error: io::Error) -> Output {
        self.traces.state().error.get_or_insert(error);
        Output::Failed
    }
}

impl Clone for Trace {
    fn clone(&self) -> Self {
        let beginning = match &self.output {
            Output::Waiting(beginning) => beginning.clone(),
            Output::File { path, written, .. } => Some((path.clone(), *written)),
            Output::Memory(_) | Output::Failed => None,
        };
        let output =
            if let Output::Failed = self.output { Output::Failed } else { Output::Waiting(beginning) };
        Self {
            recorder: self.recorder.clone(),
            traces: self.traces.clone(),
            label: self.label.clone(),
            output,
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let mut rest = self.recorder.take();
        rest.extend(self.recorder.clone().finish());
        match &mut self.output {
            Output::Waiting(_) | Output::Failed => {}
            Output::Memory(number) => self.traces.state().finished.push((*number, rest)),
            Output::File { file, .. } => {
                if let Err(error) = file.write_all(&rest) {
                    self.fail(error);
                }
            }
        }
    }
}
