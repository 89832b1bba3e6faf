//! Tables whose keys override settings that a profile has: a key that is not written keeps its
//! value.

use selfclock_congestion::quantity::Dimension;
use selfclock_congestion::units::{Bytes, Duration};
use serde_json::{Value as Json, json};

use super::error::Place;
use super::table::value::{HeaderSize, OrOff, PacketSize, Positive};

/// A written value of a setting of type `T`.
pub trait Setting<T> {
    /// Sets it.
    fn put(&self, setting: &mut T);
    /// The value as files have it; empty for a table, whose keys have defaults. Windows are in
    /// segments of this size.
    fn write(setting: &T, mss: Bytes) -> String;
    /// The keys of a table, by their values in both profiles.
    fn keys(_profiles: [&T; 2], _mss: [Bytes; 2]) -> Vec<KeyDefault> {
        Vec::new()
    }
}

/// The default of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyDefault {
    /// Its name.
    pub key: &'static str,
    /// The values in both profiles, modern and classic.
    pub profiles: [String; 2],
    /// Of a table: its keys.
    pub below: Vec<KeyDefault>,
}

impl KeyDefault {
    /// The sentence on it in descriptions; empty for a table.
    fn sentence(&self) -> String {
        match &self.profiles {
            [modern, classic] if modern == classic && modern.is_empty() => String::new(),
            [modern, classic] if modern == classic => format!(" Default: {modern}."),
            [modern, classic] => format!(" Modern: {modern}; classic: {classic}."),
        }
    }
}

/// Keys with values as an inline table.
pub fn inline(keys: &[KeyDefault]) -> String {
    let pairs: Vec<_> = keys.iter().map(|each| format!("{} = {}", each.key, each.profiles[0])).collect();
    format!("{{ {} }}", pairs.join(", "))
}

/// Adds the defaults to the descriptions of the keys of a table's schema.
pub fn describe(schema: &mut Json, defaults: &[KeyDefault]) {
    for form in schema.get_mut("anyOf").and_then(Json::as_array_mut).into_iter().flatten() {
        describe(form, defaults);
    }
    let Some(keys) = schema.get_mut("properties") else { return };
    for default in defaults {
        let Some(key) = keys.get_mut(default.key) else { continue };
        if let Some(about) = key["description"].as_str() {
            key["description"] = json!(format!("{about}{}", default.sentence()));
        }
        describe(key, &default.below);
    }
}

/// A table of settings.
pub trait Layer<T> {
    /// Sets what is written.
    fn overlay(&self, settings: &mut T);
    /// The keys that are written, with their places.
    fn written(&self) -> Vec<(&'static str, &Place)>;
    /// The defaults of its keys, from the settings in both profiles.
    fn defaults(profiles: [&T; 2], mss: [Bytes; 2]) -> Vec<KeyDefault>;
}

/// Declares tables as [`table!`](super::reader::table) does, of optional keys that each set the
/// field of the same name.
macro_rules! layers {
    ($($(#[doc = $about:literal])+ $name:ident => $settings:ty {
        $($(#[doc = $key_about:literal])+ $key:ident: $kind:ty,)+
    })+) => {
        $crate::scenario::reader::table! {$(
            $(#[doc = $about])+
            $name { $($(#[doc = $key_about])+ $key: $crate::scenario::reader::Maybe<$kind>,)+ }
        )+}

        $(impl $crate::scenario::layer::Layer<$settings> for $name {
            fn overlay(&self, settings: &mut $settings) {
                $(if let Some(written) = &self.$key {
                    $crate::scenario::layer::Setting::put(&written.value, &mut settings.$key);
                })+
            }
            fn written(&self) -> Vec<(&'static str, &$crate::scenario::error::Place)> {
                let keys = [$((stringify!($key), self.$key.as_ref().map(|written| &written.place))),+];
                keys.into_iter().filter_map(|(key, place)| Some((key, place?))).collect()
            }
            fn defaults(
                [modern, classic]: [&$settings; 2],
                mss: [selfclock_congestion::units::Bytes; 2],
            ) -> Vec<$crate::scenario::layer::KeyDefault> {
                vec![$($crate::scenario::layer::KeyDefault {
                    key: stringify!($key),
                    profiles: [
                        <$kind as $crate::scenario::layer::Setting<_>>::write(&modern.$key, mss[0]),
                        <$kind as $crate::scenario::layer::Setting<_>>::write(&classic.$key, mss[1]),
                    ],
                    below: <$kind as $crate::scenario::layer::Setting<_>>::keys(
                        [&modern.$key, &classic.$key],
                        mss,
                    ),
                }),+]
            }
        })+
    };
}
pub(super) use layers;

impl Setting<bool> for bool {
    fn put(&self, setting: &mut bool) {
        *setting = *self;
    }
    fn write(setting: &bool, _: Bytes) -> String {
        setting.to_string()
    }
}

impl Setting<Duration> for Duration {
    fn put(&self, setting: &mut Duration) {
        *setting = *self;
    }
    fn write(setting: &Duration, _: Bytes) -> String {
        format!("\"{}\"", Dimension::Time.written(setting.picoseconds()))
    }
}

impl<T: Setting<T>> Setting<T> for Positive<T> {
    fn put(&self, setting: &mut T) {
        self.0.put(setting);
    }
    fn write(setting: &T, mss: Bytes) -> String {
        T::write(setting, mss)
    }
}

macro_rules! sizes {
    ($($name:ty)+) => {$(
        impl Setting<Bytes> for $name {
            fn put(&self, setting: &mut Bytes) {
                *setting = self.0;
            }
            fn write(setting: &Bytes, _: Bytes) -> String {
                format!("\"{} B\"", setting.get())
            }
        }
    )+};
}

sizes! { PacketSize HeaderSize }

impl<T: Default + Copy, S: Setting<T>> Setting<Option<T>> for OrOff<S> {
    fn put(&self, setting: &mut Option<T>) {
        match self {
            Self::Off => *setting = None,
            Self::On(written) => written.put(setting.get_or_insert_default()),
        }
    }
    fn write(setting: &Option<T>, mss: Bytes) -> String {
        setting.as_ref().map_or_else(|| "\"off\"".to_owned(), |setting| S::write(setting, mss))
    }
}
