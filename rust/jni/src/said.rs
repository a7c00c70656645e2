//! What the core says through the `log` facade. It is kept here until Java fetches it after a call and passes it on to SLF4J:
//! nothing here calls into Java. At which level anything is said at all Java tells before a call.

use log::{Level, LevelFilter, Log, Metadata, Record};
use parking_lot::Mutex;
use std::cell::Cell;
use std::fmt::Write;
use std::sync::Once;

/// More than this is left out, and counted, until the next time that it is fetched.
const MOST_BYTES: usize = 1 << 16;

#[derive(Default)]
struct Said {
    /// Lines: the level as a digit, and the message.
    lines: String,
    left_out: usize,
}

static SAID: Mutex<Said> = Mutex::new(Said { lines: String::new(), left_out: 0 });

thread_local! {
    /// Whether this thread calls cores.
    static CALLS: Cell<bool> = const { Cell::new(false) };
}

/// What the core says on this thread is said of the cluster. On others copies of it speak of what they simulate.
pub fn hear_core() {
    CALLS.set(true);
}

struct Keeper;

impl Log for Keeper {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level() && (CALLS.get() || !metadata.target().starts_with("hiatus_core"))
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            SAID.lock().add(record.level(), &format!("{}: {}", record.target(), record.args()));
        }
    }

    fn flush(&self) {}
}

impl Said {
    fn add(&mut self, level: Level, message: &str) {
        if self.lines.len() + message.len() > MOST_BYTES {
            self.left_out += 1;
            return;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(self.lines, "{}{}", level as usize, message.replace('\n', " "));
    }

    fn take(&mut self) -> Option<String> {
        let left_out = std::mem::take(&mut self.left_out);
        let mut lines = std::mem::take(&mut self.lines);
        if left_out > 0 {
            let _ = writeln!(lines, "{}{left_out} more messages were left out", Level::Warn as usize);
        }
        (!lines.is_empty()).then_some(lines)
    }
}

/// From now on everything up to that level is kept: 0 for nothing, 1 for errors, up to 5 for traces.
pub fn listen(level: i32) {
    static ONCE: Once = Once::new();
    // Where another logger was there before, as in tests of this crate, that one hears it.
    ONCE.call_once(|| drop(log::set_logger(&Keeper)));
    let level = usize::try_from(level).unwrap_or(0);
    log::set_max_level(LevelFilter::iter().nth(level).unwrap_or(LevelFilter::Trace));
}

/// Whether something was said since it was taken last.
pub fn waits() -> bool {
    let said = SAID.lock();
    !said.lines.is_empty() || said.left_out > 0
}

/// What was said since the last call, in lines that begin with the level as a digit; `None` if nothing was.
pub fn take() -> Option<String> {
    SAID.lock().take()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn what_is_said_up_to_the_level_is_kept_until_it_is_taken_and_not_without_end() {
        listen(3);
        log::info!("one\ntwo");
        log::debug!("not this");
        assert!(waits());
        assert_eq!(take().unwrap(), "3hiatus::said::tests: one two\n");
        assert!(!waits() && take().is_none());
        listen(0);
        log::error!("nor this");
        assert_eq!(take(), None);

        listen(3);
        hear_core();
        let of_core = || log::info!(target: "hiatus_core::state", "room is given back");
        of_core();
        assert!(take().is_some());
        thread::scope(|scope| _ = scope.spawn(of_core));
        assert_eq!(take(), None, "what a copy of the core says in a forecast");
        thread::scope(|scope| _ = scope.spawn(|| log::info!("of the thread itself")));
        assert!(take().is_some());

        listen(1);
        (0..MOST_BYTES).for_each(|_| log::error!("again"));
        let all = take().unwrap();
        assert!(all.len() < 2 * MOST_BYTES && all.ends_with(" more messages were left out\n"));
        assert_eq!(take(), None);
    }
}
