export function start() {
  debugger;
  return 1;
}
