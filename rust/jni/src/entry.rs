//! The native methods of `io.hiatus.scheduler.bridge.Native`. Each converts, calls and converts; whatever goes wrong, a panic
//! included, reaches Java as an unchecked `NativeException` with the message, and the JVM stays usable.
#![allow(unsafe_code, reason = "exported symbols and direct buffers are what this file is for")]

use crate::core::{Core, CoreError};
use crate::said;
use hiatus_core::recurring::{class_id, job_class};
use hiatus_core::units::NodeId;
use hiatus_history::Bounds;
use hiatus_wire::layout::{ABI, LENDS, MORE, SAID};
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

/// `static native int abi()`
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_abi<'a>(
    _env: EnvUnowned<'a>,
    _class: JClass<'a>,
) -> jint {
    ABI
}

/// `static native long create(String properties)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_create<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    properties: JString<'a>,
) -> jlong {
    env.with_env(|env| Core::create(&text(env, &properties)?)).resolve::<Throw>()
}

/// `static native void configure(long handle, String properties)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_configure<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
    properties: JString<'a>,
) {
    env.with_env(|env| Core::with(handle, |core| core.configure(&text(env, &properties)?))).resolve::<Throw>();
}

/// `static native void check(String properties)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_check<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    properties: JString<'a>,
) {
    env.with_env(|env| Ok::<_, CoreError>(session::settings(&text(env, &properties)?).map(|_| ())?)).resolve::<Throw>();
}

/// `static native long step(long handle, long nowMs, ByteBuffer facts, int length, ByteBuffer answers)`: bytes of
/// answers, of which those that do not fit wait for `rest`; with [`MORE`], [`SAID`] and [`LENDS`], to save calls that find nothing.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_step<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
    now_ms: jlong,
    facts: JByteBuffer<'a>,
    length: jint,
    mut answers: JByteBuffer<'a>,
) -> jlong {
    env.with_env(|env| {
        let facts = filled(env, &facts, usize::try_from(length).unwrap_or(usize::MAX))?;
        let answers = whole(env, &mut answers)?;
        Core::with(handle, |core| {
            core.step(now_ms, facts)?;
            let more = if core.has_more() { MORE } else { 0 };
            let said = if said::waits() { SAID } else { 0 };
            let lends = if core.lends() { LENDS } else { 0 };
            Ok(jlong::from(core.give(answers)) | more | said | lends)
        })
    })
    .resolve::<Throw>()
}

/// `static native int rest(long handle, ByteBuffer answers)`: answers that did not fit the last time; 0 when there are
/// no more.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_rest<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
    mut answers: JByteBuffer<'a>,
) -> jint {
    env.with_env(|env| {
        let answers = whole(env, &mut answers)?;
        Core::with(handle, |core| Ok(core.give(answers)))
    })
    .resolve::<Throw>()
}

/// `static native boolean hasMore(long handle)`: whether another step is worth while before there are new facts.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_hasMore<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
) -> jboolean {
    env.with_env(|_| Core::with(handle, |core| Ok(core.has_more()))).resolve::<Throw>()
}

/// `static native int nodeViews(long handle, ByteBuffer nodes, int length, ByteBuffer answers)`: what the core knows of
/// the nodes whose numbers (u32, little-endian) fill so many bytes; the rest by `rest`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_nodeViews<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
    nodes: JByteBuffer<'a>,
    length: jint,
    mut answers: JByteBuffer<'a>,
) -> jint {
    env.with_env(|env| {
        let numbers =
            filled(env, &nodes, usize::try_from(length).unwrap_or(usize::MAX))?.chunks_exact(size_of::<u32>());
        let nodes = numbers.filter_map(|bytes| bytes.first_chunk()).map(|bytes| NodeId(u32::from_le_bytes(*bytes)));
        let answers = whole(env, &mut answers)?;
        Core::with(handle, |core| {
            core.write(|scheduler, out| convert::node_views(scheduler, nodes, out));
            Ok(core.give(answers))
        })
    })
    .resolve::<Throw>()
}

/// `static native int views(long handle, ByteBuffer answers)`: what the core knows, as views; the rest by `rest`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_views<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
    mut answers: JByteBuffer<'a>,
) -> jint {
    env.with_env(|env| {
        let answers = whole(env, &mut answers)?;
        Core::with(handle, |core| {
            core.write(convert::views);
            Ok(core.give(answers))
        })
    })
    .resolve::<Throw>()
}

/// `static native int tally(long handle, ByteBuffer answers)`: what happened so far and the loads of the queues, as views; the
/// rest by `rest`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_tally<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
    mut answers: JByteBuffer<'a>,
) -> jint {
    env.with_env(|env| {
        let answers = whole(env, &mut answers)?;
        Core::with(handle, |core| {
            core.write(convert::tally_view);
            Ok(core.give(answers))
        })
    })
    .resolve::<Throw>()
}

/// `static native long jobClass(String name, String tags)`: the number of the class of an application of that name, with these
/// tags, one a line.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_jobClass<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    name: JString<'a>,
    tags: JString<'a>,
) -> jlong {
    env.with_env(|env| {
        let (name, tags) = (text(env, &name)?, text(env, &tags)?);
        Ok::<_, CoreError>(class_id(&job_class(&name, tags.lines())).0.cast_signed())
    })
    .resolve::<Throw>()
}

/// `static native void keepHistory(long handle, String dir, long mostRuns)`: nowhere if there is no directory.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_keepHistory<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
    dir: JString<'a>,
    most_runs: jlong,
) {
    env.with_env(|env| {
        let dir = if dir.is_null() { None } else { Some(text(env, &dir)?) };
        let bounds = Bounds { runs: most_runs.max(0).cast_unsigned() };
        Core::with(handle, |core| core.keep_history(dir.map(|dir| (dir.into(), bounds))))
    })
    .resolve::<Throw>();
}

/// `static native int known(long handle, ByteBuffer answers)`: what has become known of applications, as facts for the next
/// step; the rest by `rest`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_known<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
    mut answers: JByteBuffer<'a>,
) -> jint {
    env.with_env(|env| {
        let answers = whole(env, &mut answers)?;
        Core::with(handle, |core| {
            core.tell_known();
            Ok(core.give(answers))
        })
    })
    .resolve::<Throw>()
}

/// `static native String explain(long handle)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_explain<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
) -> JString<'a> {
    env.with_env(|env| {
        let json = Core::with(handle, |core| core.explain())?;
        Ok(JString::from_str(env, json)?)
    })
    .resolve::<Throw>()
}

/// `static native void listen(int level)`: from now on what is said up to that level is kept for `said`; 0 for nothing, 5 for
/// traces.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_listen<'a>(
    _env: EnvUnowned<'a>,
    _class: JClass<'a>,
    level: jint,
) {
    said::listen(level);
}

/// `static native String said()`: what was said since the last call, one message a line behind its level; null for nothing.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_said<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
) -> JString<'a> {
    env.with_env(|env| match said::take() {
        Some(lines) => Ok(JString::from_str(env, lines)?),
        None => Ok::<_, CoreError>(JString::default()),
    })
    .resolve::<Throw>()
}

/// `static native void destroy(long handle)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_destroy<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
) {
    env.with_env(|_| Core::destroy(handle)).resolve::<Throw>();
}

/// `static native void testingPanic(long handle, String message)`: for the tests of the boundary itself.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_hiatus_scheduler_bridge_Native_testingPanic<'a>(
    mut env: EnvUnowned<'a>,
    _class: JClass<'a>,
    handle: jlong,
    message: JString<'a>,
) {
    env.with_env(|env| {
        let message = text(env, &message)?;
        Core::with(handle, |_| -> Result<(), CoreError> { panic!("{message}") })
    })
    .resolve::<Throw>();
}

impl From<Error> for CoreError {
    fn from(error: Error) -> Self {
        CoreError::Jvm(error.to_string())
    }
}
