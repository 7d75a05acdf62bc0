// Builds the package of these sources unless it exists: all tests of the label package need it, except build.
import { packageReady } from './machine.js';

await packageReady();
