//! The native methods of `io.hiatus.scheduler.bridge.Native`. Each converts, calls and converts; whatever goes wrong, a panic
//! included, reaches Java as an unchecked `NativeException` with the message, and the JVM stays usable.
#![allow(unsafe_code, reason = "exported symbols and direct buffers are what this file is for")]

use crate::core::{Core, CoreError};
use crate::said;
use hiatus_core::recurring::{class_id, job_class};
use hiatus_core::units::NodeId;
use hiatus_history::Bounds;
use hiatus_wire::layout::{ABI, ADMITS, LENDS, MORE, SAID};
use hiatus_wire::{convert, session};
use jni::errors::{Error, ErrorPolicy};
use jni::objects::{JByteBuffer, JClass, JString};
use jni::strings::JNIString;
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned};
use std::any::Any;

/// Throws errors and panics as `NativeException`.
struct Throw;

const EXCEPTION: &str = "io/hiatus/scheduler/bridge/NativeException";

fn throw<T: Default>(env: &mut Env<'_>, message: String) -> jni::errors::Result<T> {
    if !env.exception_check() {
        // An exception is pending after this, which is what `throw_new` then reports: let it reach Java.
        let _ = env.throw_new(JNIString::from(EXCEPTION), JNIString::from(message));
    }
    Ok(T::default())
}

impl<T: Default> ErrorPolicy<T, CoreError> for Throw {
    type Captures<'unowned_env_local: 'native_method, 'native_method> = ();

    fn on_error<'unowned_env_local: 'native_method, 'native_method>(
        env: &mut Env<'unowned_env_local>,
        _captures: &mut (),
        error: CoreError,
    ) -> jni::errors::Result<T> {
        throw(env, error.to_string())
    }

    fn on_panic<'unowned_env_local: 'native_method, 'native_method>(
        env: &mut Env<'unowned_env_local>,
        _captures: &mut (),
        payload: Box<dyn Any + Send>,
    ) -> jni::errors::Result<T> {
        let text = payload.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        throw(env, format!("panic in libhiatus: {}", text.unwrap_or_else(|| "no message".into())))
    }
}

/// The first bytes of a direct buffer that Java filled.
fn filled<'a>(env: &Env<'_>, buffer: &'a JByteBuffer<'_>, length: usize) -> Result<&'a [u8], CoreError> {
    let address = env.get_direct_buffer_address(buffer)?;
    let capacity = env.get_direct_buffer_capacity(buffer)?;
    if length > capacity {
        return Err(CoreError::BufferTooShort { length, capacity });
    }
    // SAFETY: the JVM says that `capacity` bytes at `address` are the buffer's, and `length` is within; the reference
    // keeps the buffer from being collected, and Java leaves it alone until the native method returns.
    Ok(unsafe { std::slice::from_raw_parts(address, length) })
}

/// All bytes of a direct buffer that Java wants filled.
fn whole<'a>(env: &Env<'_>, buffer: &'a mut JByteBuffer<'_>) -> Result<&'a mut [u8], CoreError> {
    let address = env.get_direct_buffer_address(buffer)?;
    let capacity = env.get_direct_buffer_capacity(buffer)?;
    // SAFETY: as for `filled`; and it is another buffer than the facts', given to one call at a time.
    Ok(unsafe { std::slice::from_raw_parts_mut(address, capacity) })
}

fn text(env: &Env<'_>, string: &JString<'_>) -> Result<String, CoreError> {
    Ok(string.try_to_string(env)?)
}

/// Exports native methods. Each is given the JVM and its arguments; what goes wrong in it reaches Java as an exception.
macro_rules! natives {
    ($($(#[$doc:meta])+ fn $name:ident($env:ident $(, $argument:ident: $kind:ty)*) $(-> $result:ty)? $body:block)+) => {$(
        $(#[$doc])+
        #[unsafe(no_mangle)]
        pub extern "system" fn $name<'a>(mut jvm: EnvUnowned<'a>, _class: JClass<'a> $(, $argument: $kind)*) $(-> $result)? {
            jvm.with_env(|$env| -> Result<_, CoreError> { $body }).resolve::<Throw>()
        }
    )+};
}

/// Answers of a core: as many of those that `make` prepares as fit.
fn answer(
    env: &Env<'_>,
    mut answers: JByteBuffer<'_>,
    handle: jlong,
    make: impl FnOnce(&mut Core),
) -> Result<jint, CoreError> {
    let answers = whole(env, &mut answers)?;
    Core::with(handle, |core| {
        make(core);
        Ok(core.give(answers))
    })
}

natives! {
    /// `static native int abi()`
    fn Java_io_hiatus_scheduler_bridge_Native_abi(_env) -> jint {
        Ok(ABI)
    }

    /// `static native long create(String properties)`
    fn Java_io_hiatus_scheduler_bridge_Native_create(env, properties: JString<'a>) -> jlong {
        Core::create(&text(env, &properties)?)
    }

    /// `static native void configure(long handle, String properties)`
    fn Java_io_hiatus_scheduler_bridge_Native_configure(env, handle: jlong, properties: JString<'a>) {
        Core::with(handle, |core| core.configure(&text(env, &properties)?))
    }

    /// `static native void check(String properties)`
    fn Java_io_hiatus_scheduler_bridge_Native_check(env, properties: JString<'a>) {
        session::settings(&text(env, &properties)?)?;
        Ok(())
    }

    /// `static native long step(long handle, long nowMs, ByteBuffer facts, int length, ByteBuffer answers)`: bytes of
    /// answers, of which those that do not fit wait for `remainingAnswers`; with [`MORE`], [`SAID`], [`LENDS`] and [`ADMITS`], to save calls that find nothing.
    fn Java_io_hiatus_scheduler_bridge_Native_step(
        env,
        handle: jlong,
        now_ms: jlong,
        facts: JByteBuffer<'a>,
        length: jint,
        answers: JByteBuffer<'a>
    ) -> jlong {
        let facts = filled(env, &facts, usize::try_from(length).unwrap_or(usize::MAX))?;
        let mut answers = answers;
        let answers = whole(env, &mut answers)?;
        Core::with(handle, |core| {
            core.step(now_ms, facts)?;
            let more = if core.has_more() { MORE } else { 0 };
            let said = if said::waits() { SAID } else { 0 };
            let lends = if core.lends() { LENDS } else { 0 };
            let admits = if core.admits() { ADMITS } else { 0 };
            Ok(jlong::from(core.give(answers)) | more | said | lends | admits)
        })
    }

    /// `static native int remainingAnswers(long handle, ByteBuffer answers)`: answers that did not fit the last time; 0 when there are
    /// no more.
    fn Java_io_hiatus_scheduler_bridge_Native_remainingAnswers(env, handle: jlong, answers: JByteBuffer<'a>) -> jint {
        answer(env, answers, handle, |_| ())
    }

    /// `static native boolean hasMore(long handle)`: whether another step is worth while before there are new facts.
    fn Java_io_hiatus_scheduler_bridge_Native_hasMore(_env, handle: jlong) -> jboolean {
        Core::with(handle, |core| Ok(core.has_more()))
    }

    /// `static native int nodeViews(long handle, ByteBuffer nodes, int length, ByteBuffer answers)`: what the core knows of
    /// the nodes whose numbers (u32, little-endian) fill so many bytes; the rest by `remainingAnswers`.
    fn Java_io_hiatus_scheduler_bridge_Native_nodeViews(
        env,
        handle: jlong,
        nodes: JByteBuffer<'a>,
        length: jint,
        answers: JByteBuffer<'a>
    ) -> jint {
        let numbers =
            filled(env, &nodes, usize::try_from(length).unwrap_or(usize::MAX))?.chunks_exact(size_of::<u32>());
        let nodes = numbers.filter_map(|bytes| bytes.first_chunk()).map(|bytes| NodeId(u32::from_le_bytes(*bytes)));
        answer(env, answers, handle, |core| core.write(|scheduler, out| convert::node_views(scheduler, nodes, out)))
    }

    /// `static native int views(long handle, ByteBuffer answers)`: what the core knows, as views; the rest by `remainingAnswers`.
    fn Java_io_hiatus_scheduler_bridge_Native_views(env, handle: jlong, answers: JByteBuffer<'a>) -> jint {
        answer(env, answers, handle, |core| core.write(convert::views))
    }

    /// `static native int tally(long handle, ByteBuffer answers)`: what happened so far and the loads of the queues, as views; the
    /// rest by `remainingAnswers`.
    fn Java_io_hiatus_scheduler_bridge_Native_tally(env, handle: jlong, answers: JByteBuffer<'a>) -> jint {
        answer(env, answers, handle, |core| core.write(convert::tally_view))
    }

    /// `static native int admissions(long handle, ByteBuffer answers)`: who is let in next, and who need not count; the rest by `remainingAnswers`.
    fn Java_io_hiatus_scheduler_bridge_Native_admissions(env, handle: jlong, answers: JByteBuffer<'a>) -> jint {
        answer(env, answers, handle, |core| core.write(convert::admissions))
    }

    /// `static native long jobClass(String name, String tags)`: the number of the class of an application of that name, with these
    /// tags, one a line.
    fn Java_io_hiatus_scheduler_bridge_Native_jobClass(env, name: JString<'a>, tags: JString<'a>) -> jlong {
        let (name, tags) = (text(env, &name)?, text(env, &tags)?);
        Ok(class_id(&job_class(&name, tags.lines())).0.cast_signed())
    }

    /// `static native void keepHistory(long handle, String dir, long mostRuns)`: nowhere if there is no directory.
    fn Java_io_hiatus_scheduler_bridge_Native_keepHistory(env, handle: jlong, dir: JString<'a>, most_runs: jlong) {
        let dir = if dir.is_null() { None } else { Some(text(env, &dir)?) };
        let bounds = Bounds { runs: most_runs.max(0).cast_unsigned() };
        Core::with(handle, |core| core.keep_history(dir.map(|dir| (dir.into(), bounds))))
    }

    /// `static native int known(long handle, ByteBuffer answers)`: what has become known of applications, as facts for the next
    /// step; the rest by `remainingAnswers`.
    fn Java_io_hiatus_scheduler_bridge_Native_known(env, handle: jlong, answers: JByteBuffer<'a>) -> jint {
        answer(env, answers, handle, Core::tell_known)
    }

    /// `static native String explain(long handle)`
    fn Java_io_hiatus_scheduler_bridge_Native_explain(env, handle: jlong) -> JString<'a> {
        let json = Core::with(handle, |core| core.explain())?;
        Ok(JString::from_str(env, json)?)
    }

    /// `static native void listen(int level)`: from now on what is said up to that level is kept for `said`; 0 for nothing, 5 for
    /// traces.
    fn Java_io_hiatus_scheduler_bridge_Native_listen(_env, level: jint) {
        said::listen(level);
        Ok(())
    }

    /// `static native String said()`: what was said since the last call, one message a line behind its level; null for nothing.
    fn Java_io_hiatus_scheduler_bridge_Native_said(env) -> JString<'a> {
        match said::take() {
            Some(lines) => Ok(JString::from_str(env, lines)?),
            None => Ok(JString::default()),
        }
    }

    /// `static native void destroy(long handle)`
    fn Java_io_hiatus_scheduler_bridge_Native_destroy(_env, handle: jlong) {
        Core::destroy(handle)
    }

    /// `static native void testingPanic(long handle, String message)`: for the tests of the boundary itself.
    fn Java_io_hiatus_scheduler_bridge_Native_testingPanic(env, handle: jlong, message: JString<'a>) {
        let message = text(env, &message)?;
        Core::with(handle, |_| -> Result<(), CoreError> { panic!("{message}") })
    }
}

impl From<Error> for CoreError {
    fn from(error: Error) -> Self {
        CoreError::Jvm(error.to_string())
    }
}
