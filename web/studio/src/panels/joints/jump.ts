/** Show the motion at a time [s]. */
export async function jumpTo(_time: number): Promise<void> {}
