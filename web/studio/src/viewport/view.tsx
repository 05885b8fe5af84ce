import { Text } from "@mantine/core";
import { useEffect, useRef } from "react";
import { useStudio } from "../store.js";
import { haveViewport, tellRefusal, theViewport } from "../studio.js";
import { Viewport } from "./viewport.js";

/** The view in three dimensions; all of it lives outside of React. */
export function View() {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let gone = false;
    const canvas = document.createElement("canvas");
    canvas.tabIndex = 0;
    canvas.setAttribute("aria-label", "View");
    holder.current!.append(canvas);
    void Viewport.open(canvas)
      .then((viewport) => {
        if (gone) return viewport.dispose();
        haveViewport(viewport);
        viewport.reload();
      })
      .catch(tellRefusal);
    return () => {
      gone = true;
      theViewport()?.dispose();
      haveViewport(null);
      canvas.remove();
    };
  }, []);
  return (
    <>
      <div ref={holder} style={{ position: "absolute", inset: 0 }} />
      <Status />
    </>
  );
}

function Status() {
  const frame = useStudio((s) => s.frame);
  const picked = useStudio((s) => s.picked);
  if (frame === null) return null;
  return (
    <div className="studio-overlay">
      {picked?.name && (
        <Text fz="xs" c="dimmed" data-testid="picked">
          {picked.name}
        </Text>
      )}
    </div>
  );
}
