"""
The file that node loads first, and that moves its clock ahead.

Functions are replaced by proxies of themselves, so that each keeps its name, its length and its native
source text. ``Date`` is a proxy too, since only a constructor can answer ``new Date()``. Its members are the
members of the real one, so a program that replaces ``Date.now``, as fake timers do, replaces it for all code.
"""

NODE_CLOCK = r"""{
  const { readFileSync } = require("fs");
  const ahead = Math.round(1000 * Number(readFileSync(require("path").join(__dirname, "seconds"), "utf8")));
  const Real = Date;
  const real = Real.now;
  const now = () => real() + ahead;
  const instead = (owner, name, apply) => {
    const old = owner && Object.getOwnPropertyDescriptor(owner, name);
    const part = old && (old.get ? "get" : "value");
    if (!old || !old.configurable || typeof old[part] !== "function") return;
    Object.defineProperty(owner, name, { ...old, [part]: new Proxy(old[part], { apply }) });
  };

  const Moved = new Proxy(Real, {
    construct: (target, given, made) => Reflect.construct(target, given.length ? given : [now()], made),
    apply: () => new Real(now()).toString(),
  });
  instead(Real, "now", now);
  Real.prototype.constructor = Moved;
  globalThis.Date = Moved;

  const given = (values) => (values[0] === undefined ? [now(), ...values.slice(1)] : values);
  const formats = new WeakMap();
  instead(Intl.DateTimeFormat.prototype, "format", (get, that) => {
    const format = Reflect.apply(get, that, []);
    const apply = (target, self, values) => Reflect.apply(target, self, given(values));
    if (!formats.has(format)) formats.set(format, new Proxy(format, { apply }));
    return formats.get(format);
  });
  instead(Intl.DateTimeFormat.prototype, "formatToParts", (parts, that, values) =>
    Reflect.apply(parts, that, given(values)));

  const { performance } = require("perf_hooks");
  const origin = (target, that, values) => Reflect.apply(target, that, values) + ahead;
  const toJSON = (target, that, values) => {
    const made = Reflect.apply(target, that, values);
    return { ...made, timeOrigin: that.timeOrigin };
  };
  for (let owner = performance; owner; owner = Object.getPrototypeOf(owner)) {
    const old = Object.getOwnPropertyDescriptor(owner, "timeOrigin");
    if (!old || !old.configurable) continue;
    if (old.get) instead(owner, "timeOrigin", origin);
    else Object.defineProperty(owner, "timeOrigin", { ...old, value: old.value + ahead });
    instead(owner, "toJSON", toJSON);
  }

  if (globalThis.Temporal) {
    const { Now, Instant } = Temporal;
    const instant = Now.instant;
    const later = () => Instant.fromEpochNanoseconds(instant().epochNanoseconds + BigInt(ahead) * 1000000n);
    const zoned = (zone) => later().toZonedDateTimeISO(zone === undefined ? Now.timeZoneId() : zone);
    instead(Now, "instant", later);
    instead(Now, "zonedDateTimeISO", (_, that, [zone]) => zoned(zone));
    instead(Now, "plainDateTimeISO", (_, that, [zone]) => zoned(zone).toPlainDateTime());
    instead(Now, "plainDateISO", (_, that, [zone]) => zoned(zone).toPlainDate());
    instead(Now, "plainTimeISO", (_, that, [zone]) => zoned(zone).toPlainTime());
  }
  delete require.cache[__filename];
}
"""
