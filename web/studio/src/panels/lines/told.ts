export type {
  EllipsoidTold,
  FieldTold,
  LedTold,
  LinesTold,
  LineTold,
  MoveNode,
  NodeTold,
  PlaceEllipsoid,
} from "../../messages.js";

export type Vector = [number, number, number];
