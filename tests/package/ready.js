// Builds the package of these sources unless it is there: what all tests of label package but build need.
import { packageReady } from './machine.js';

await packageReady();
