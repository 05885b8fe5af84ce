import { Text, Tooltip } from "@mantine/core";
import { useEffect, useState } from "react";
import type { Answer } from "../../connection.js";
import { useStudio } from "../../store.js";
import { connection } from "../../studio.js";

const SHARES = Array.from({ length: 21 }, (_, n) => 0.5 + 0.05 * n);
const TOLD = [0.5, 0.75, 1, 1.25, 1.5];
const WIDTH = 322;
const HEIGHT = 96;
const EDGE = 10;

/** Volume and thickness of a muscle from half to one and a half times its length. */
export function VolumeSection({ name, activation }: { name: string; activation: number }) {
  const revision = useStudio((s) => s.revision);
  const [told, setTold] = useState<Answer<"muscle.volume"> | null>(null);
  useEffect(() => {
    let stale = false;
    connection.request("muscle.volume", { name, shares: [...new Set([...SHARES, ...TOLD])].sort(), activation }).then(
      (answer) => stale || setTold(answer),
      () => stale || setTold(null),
    );
    return () => void (stale = true);
  }, [name, revision, activation]);
  if (told === null) return null;
  const { rows } = told;
  const still = rows.reduce((best, row) => (Math.abs(row.share - 1) < Math.abs(best.share - 1) ? row : best));
  const widest = Math.max(...rows.flatMap((row) => row.half_axes));
  const x = (share: number): number => EDGE + (share - 0.5) * (WIDTH - 2 * EDGE);
  const y = (part: number): number => HEIGHT - EDGE - part * (HEIGHT - 2 * EDGE);
  const polyline = (of: (row: (typeof rows)[number]) => number): string =>
    rows.map((row) => `${x(row.share).toFixed(1)},${y(of(row)).toFixed(1)}`).join(" ");
  return (
    <div data-testid="volume">
      <Tooltip label="At 50 to 150 % of its length at bind: orange its volume, blue and grey the half-axes of its thickest section. A volume that rises is that of a belly as thin as it can be.">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className="muscle-curve">
          <line className="muscle-axis" x1={x(0.5)} x2={x(1.5)} y1={y(0)} y2={y(0)} />
          <line className="muscle-belly" x1={x(1)} x2={x(1)} y1={EDGE} y2={HEIGHT - EDGE} />
          <polyline className="muscle-plot muscle-plot-a" points={polyline((row) => row.half_axes[0] / widest)} />
          <polyline className="muscle-plot muscle-plot-b" points={polyline((row) => row.half_axes[1] / widest)} />
          <polyline className="muscle-plot muscle-plot-v" points={polyline((row) => (0.8 * row.volume) / still.volume)} />
          {[0.5, 1, 1.5].map((share) => (
            <text key={share} className="muscle-label" x={x(share)} y={HEIGHT - 1} textAnchor={share === 0.5 ? "start" : share === 1 ? "middle" : "end"}>
              {`${100 * share} %`}
            </text>
          ))}
        </svg>
      </Tooltip>
      <table className="muscle-table">
        <thead>
          <tr>
            <th>length</th>
            <th>volume cm³</th>
            <th>depth × width mm</th>
          </tr>
        </thead>
        <tbody>
          {TOLD.map((share) => {
            const row = rows.find((one) => Math.abs(one.share - share) < 1e-6);
            return row === undefined ? null : (
              <tr key={share}>
                <td>{`${100 * share} %`}</td>
                <td>
                  {(1e6 * row.volume).toFixed(2)}
                  {row.held && (
                    <Tooltip label="Too long to keep its volume: its belly is as thin as it can be">
                      <span> thinnest</span>
                    </Tooltip>
                  )}
                </td>
                <td>{row.half_axes.map((half) => (2000 * half).toFixed(1)).join(" × ")}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Text fz="xs" c="dimmed">
        {`${(1000 * told.length).toFixed(0)} mm at bind`}
      </Text>
    </div>
  );
}
