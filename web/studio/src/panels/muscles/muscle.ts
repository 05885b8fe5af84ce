import { useEffect, useRef, useState } from "react";
import type { Answer } from "../../connection.js";
import { useStudio } from "../../store.js";
import { connection } from "../../studio.js";
import { Latest } from "./latest.js";

export type Detail = Answer<"muscle.get">;
export type Spindle = NonNullable<Detail["spindle"]>;
export type Places = Answer<"muscle.places">;

/** The muscle that is chosen in numbers, as it is after the last edit; null for none, or one that is gone. */
export function useDetail(name: string | null): Detail | null {
  const revision = useStudio((s) => s.revision);
  const [detail, setDetail] = useState<Detail | null>(null);
  useEffect(() => {
    let stale = false;
    if (name === null) setDetail(null);
    else {
      connection.request("muscle.get", { name }).then(
        (told) => stale || setDetail(told),
        () => stale || setDetail(null), // undone, renamed or removed meanwhile
      );
    }
    return () => void (stale = true);
  }, [name, revision]);
  return detail?.name === name ? detail : null;
}

/** Where it is in the pose that is shown; asked for again as the pose or the rig changes. */
export function usePlaces(name: string | null): Places | null {
  const joints = useStudio((s) => s.joints);
  const revision = useStudio((s) => s.revision);
  const [places, setPlaces] = useState<Places | null>(null);
  const latest = useRef(new Latest());
  const asked = useRef<{ name: string; revision: number; joints: Float32Array | null } | null>(null);
  useEffect(() => {
    if (name === null) {
      asked.current = null;
      setPlaces(null);
      return;
    }
    const last = asked.current;
    if (last?.name === name && last.revision === revision && same(last.joints, joints)) return;
    asked.current = { name, revision, joints };
    latest.current.push(async () => {
      try {
        const told = await connection.request("muscle.places", { name });
        if (asked.current?.name === name) setPlaces(told);
      } catch {
        setPlaces(null); // undone, renamed or removed meanwhile
      }
    });
  }, [name, revision, joints]);
  return places?.name === name ? places : null;
}

function same(a: Float32Array | null, b: Float32Array | null): boolean {
  if (a === b) return true;
  return a !== null && b !== null && a.length === b.length && a.every((value, at) => value === b[at]);
}
